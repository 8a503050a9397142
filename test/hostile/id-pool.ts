import type { Route } from '../harness/http/api-routes.ts'
import type { HttpResponse } from '../harness/http/response.ts'

/** Ids of a group that are kept: the last ones, which are most likely still of use. */
const KEPT = 16

/** Stands in a path for an id from an earlier answer. */
export const idPlaceholder = (n: number): string => `~${n}~`

/**
 * Ids of what was made during the run (games, cards, withdrawals): otherwise hardly any request would name one that exists.
 * Grouped by the first words of paths, as what is made by one route is used by another.
 */
export class IdPool {
  readonly #ids = new Map<string, string[]>()

  /** Keeps the id of the first item in an answer. */
  keep(route: Route, { status, text }: HttpResponse): void {
    const id = status < 300 ? /^\{"data":\[?\{"id":(\d+)/.exec(text)?.[1] : undefined
    if (id === undefined) return
    const ids = this.#ids.get(groupOf(route)) ?? []
    if (!ids.includes(id)) this.#ids.set(groupOf(route), [id, ...ids].slice(0, KEPT))
  }

  /** A path with ids in place of placeholders. */
  fill(route: Route, path: string): string {
    const ids = this.#ids.get(groupOf(route)) ?? ['1']
    return path.replace(/~(\d+)~/g, (_, n: string) => ids[Number(n) % ids.length] ?? '1')
  }
}

/** `/v1/rooms/{uid}/join` and its neighbours are of the group `rooms`, as are operators' routes for rooms. */
const groupOf = ({ path }: Route): string => /v1\/([^/]+)/.exec(path)?.[1] ?? path
