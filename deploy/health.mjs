// The image's health check, for container engines that have no probes of their own: whether the process is live.
// biome-ignore lint/style/noProcessEnv: a program of its own, which must not load configuration's
const port = (process.env.ACCORD_ADMIN_LISTEN ?? '').split(':').pop();
const live = await fetch(`http://127.0.0.1:${port}/live`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
process.exit(live?.ok ? 0 : 1);
