# Made from the drawn policy: change the drawing, not this text.
package accord.graph

default outcome := "deny"

outcome := "allow" if reached == "open"

outcome := "allow" if reached == "open-and-log"

outcome := "deny" if reached == "closed"

reason := "Only the owner and drivers in good standing." if reached == "closed"

obligations := ["log-driver"] if reached == "open-and-log"

# The outcome where the decision ends, null where a way leads nowhere.
reached := at_owner

# Condition "owner"
at_owner := "open" if {
	some link in input.graph.subject
	link.relationshipType == "is_owner_of"
	link.to.type == input.resource.type
	link.to.id == input.resource.id
} else := at_driver_in_good_standing

# Condition "driver-in-good-standing", all of
at_driver_in_good_standing := "open-and-log" if {
	part_1_driver_in_good_standing
	part_2_driver_in_good_standing
	is_number(input.subject.penaltyPoints)
	input.subject.penaltyPoints < 8
} else := "closed"

part_1_driver_in_good_standing if {
	some link in input.graph.subject
	link.relationshipType == "drives"
	link.to.type == input.resource.type
	link.to.id == input.resource.id
}

part_2_driver_in_good_standing if {
	some consent in input.consents
	consent.name == "terms-of-driving"
	consent.sufficient == true
}
