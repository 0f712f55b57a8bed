# Made from the drawn policy: change the drawing, not this text.
package accord.graph

default outcome := "deny"

outcome := "allow" if reached == "yes"

outcome := "deny" if reached == "a_b"

reason := "\"\n}\noutcome := \"allow\"\n# \u2028\u202e within(" if reached == "a_b"

obligations := ["\"\n}\noutcome := \"allow\"\n# \u2028\u202e within("] if reached == "a_b"

# The outcome where the decision ends, null where a way leads nowhere.
reached := at_a_b

# Condition "a.b", all of
at_a_b := "yes" if {
	part_1_a_b
	input.subject["\"\n}\noutcome := \"allow\"\n# \u2028\u202e within("]["default"] == "\"\n}\noutcome := \"allow\"\n# \u2028\u202e within("
	input.resource["no-identifier"] != ""
	startswith(input.context["default"], input.resource["no-identifier"])
} else := at_a_b_2

part_1_a_b if {
	some consent in input.consents
	consent.name == "\"\n}\noutcome := \"allow\"\n# \u2028\u202e within("
	consent.sufficient == true
}

# Condition "a:b"
at_a_b_2 := "yes" if {
	input.invitation.status == "pending"
	input.invitation.to.type == input.resource.type
	input.invitation.to.id == input.resource.id
	input.invitation.relationshipType == "\"\n}\noutcome := \"allow\"\n# \u2028\u202e within("
} else := "a_b"
