// Without a file of assembly Go refuses functions without a body (link.go).
