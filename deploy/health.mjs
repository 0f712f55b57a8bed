// The image's health check, for container engines that have no probes of their own: whether the process is live, or `ready`.
// biome-ignore lint/style/noProcessEnv: a program of its own, which must not load configuration's
const port = (process.env.ACCORD_ADMIN_LISTEN ?? '').split(':').pop();
const probe = process.argv[2] === 'ready' ? 'ready' : 'live';
const answer = await fetch(`http://127.0.0.1:${port}/${probe}`, { signal: AbortSignal.timeout(2000) }).catch(
  () => undefined,
);
process.exit(answer?.ok ? 0 : 1);
