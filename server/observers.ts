/** Where observations go: the log, the metrics, and the caller that started the process. */
import type { Config } from './core/config.ts';
import { createLogger, logObservation } from './core/log.ts';
import type { Metrics } from './core/metrics.ts';
import type { Observe } from './core/observe.ts';

/** `attach`: the metrics, which are made of what is observed. */
export function observers(config: Config, also: Observe | undefined) {
  const logger = createLogger(config.ACCORD_LOG_LEVEL);
  let metrics: Metrics | undefined;
  const observe: Observe = (observation) => {
    metrics?.record(observation);
    logObservation(logger, observation);
    also?.(observation);
  };
  const attach = (made: Metrics) => {
    metrics = made;
  };
  return { observe, attach };
}
