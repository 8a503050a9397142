import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'

/** Warns about operators' routes that are open to everyone. */
export function warnAboutOpenRoutes({ metricsToken, docs }: Pick<Config, 'metricsToken' | 'docs'>, log: Log): void {
  const routes = [
    ...(metricsToken === null ? ['/metrics (METRICS_TOKEN closes it)'] : []),
    ...(docs ? ['/docs (DOCS=off closes it)'] : []),
  ]
  if (routes.length > 0) log.warn({ routes }, "operators' routes are open to everyone")
}
