import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'

/** A template and what it shows: a file of `src/console`, named from there. */
export interface Template<Data extends object> {
  readonly path: string
  /** Only for the type: what the template is given. */
  readonly data?: Data
}

/** Names a template with the type of its data, so that a page that gives something else does not compile. */
export const defineTemplate = <Data extends object>(path: `/${string}.eta`): Template<Data> => ({ path })

/** Everything that is shown is escaped; templates are read once. */
export const templates = new Eta({
  views: fileURLToPath(new URL('..', import.meta.url)),
  autoEscape: true,
  cache: true,
  autoTrim: [false, 'nl'],
})
