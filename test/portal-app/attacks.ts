/** Texts that try to be scripts, for every text that a tenant or a person can choose. */
export const attacks = [
  '<script>window.hurt=1</script>',
  '<img src=x onerror=window.hurt=1>',
  '"><svg onload=window.hurt=1>',
  "'-window.hurt=1-'",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the attack
  '${window.hurt=1}',
  '{{constructor.constructor("window.hurt=1")()}}',
  '<a href=javascript:window.hurt=1>x</a>',
  '</textarea><script>window.hurt=1</script>',
  '<iframe srcdoc="<script>parent.hurt=1</script>">',
  '\u202e<b>turned</b>',
];
