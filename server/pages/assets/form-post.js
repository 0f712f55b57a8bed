// The answer is on its way: without this script, the button sends it.
document.forms[0].submit();
