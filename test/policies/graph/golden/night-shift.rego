# Made from the drawn policy: change the drawing, not this text.
package accord.graph

default outcome := "deny"

outcome := "allow" if reached == "read"

reason := "On shift." if reached == "read"

obligations := ["log", "mask-name"] if reached == "read"

# The outcome where the decision ends, null where a way leads nowhere.
reached := at_on_site

# Condition "on-site", any of
at_on_site := at_blocked if {
	any_on_site
} else := at_night

any_on_site if within(input.context.ip, ["192.0.2.0/24", "::ffff:192.0.2.0/120", "2001:db8::/32"])

any_on_site if includes(input.subject.badges, input.resource.ward)

# Condition "night", all of
at_night := at_blocked if {
	part_1_night
	part_2_night
} else := null

part_1_night if {
	some link in input.graph.subject
	link.relationshipType == "works_at"
	link.to.type == "hospital"
	link.to.id == "west"
}

part_2_night if {
	time.parse_rfc3339_ns(input.time) >= time.parse_rfc3339_ns("2025-12-31T23:00:00.000Z")
	local_weekday("Europe/Amsterdam") in {"Friday", "Saturday"}
	local_time("Europe/Amsterdam") >= [22, 0, 0]
}

part_2_night if {
	time.parse_rfc3339_ns(input.time) >= time.parse_rfc3339_ns("2025-12-31T23:00:00.000Z")
	local_weekday("Europe/Amsterdam") in {"Sunday", "Saturday"}
	local_time("Europe/Amsterdam") < [6, 30, 0]
}

# Condition "blocked", none of
at_blocked := "read" if {
	not any_blocked
} else := null

any_blocked if input.subject.status in ["suspended", "left"]

any_blocked if {
	some link in input.graph.subject
	link.relationshipType == "barred_from"
	link.to.type == "hospital"
}

# The list has the value, which is a text, a number or a boolean.
includes(list, value) if {
	is_array(list)
	type_name(value) in {"string", "number", "boolean"}
	value in list
}

# The text is an address in one of the ranges. IPv4 ranges come with those that IPv6 writes for them.
within(address, ranges) if {
	not contains(address, "/")
	some range in ranges
	net.cidr_contains(range, address)
}

# Hour, minute and second of the request on a clock in the zone.
local_time(zone) := time.clock([time.parse_rfc3339_ns(input.time), zone])

# The day of the week of the request in the zone.
local_weekday(zone) := time.weekday([time.parse_rfc3339_ns(input.time), zone])
