import type { Config } from '../config/config.ts'
import type { Log } from '../db/log.ts'

/** Says which routes for those who run the service anybody can read. */
export function warnAboutOpenRoutes({ metricsToken, docs }: Pick<Config, 'metricsToken' | 'docs'>, log: Log): void {
  const routes = [
    ...(metricsToken === null ? ['/metrics (METRICS_TOKEN closes it)'] : []),
    ...(docs ? ['/docs (DOCS=off closes it)'] : []),
  ]
  if (routes.length > 0) log.warn({ routes }, 'routes open to everybody')
}
