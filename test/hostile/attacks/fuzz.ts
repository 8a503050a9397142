import * as fc from 'fast-check'
import type { Door } from '../../harness/http/api-routes.ts'
import { bearer } from '../../harness/http/request.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import type { Siege } from '../attack-run/attack-run.ts'
import type { PeriodicReads } from '../attack-run/periodic-reads.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { type Made, wishOf } from '../requests/request-generators.ts'

/** Requests made up at a time. */
const CHUNK = 20

/**
 * Every door with requests that are made up from its schemas: as they are meant, and wrong in one of their parts. Users'
 * doors first, so that operators may leave the service in whatever state; then all together.
 */
export async function fuzz(siege: Siege, requests: number, periodic?: PeriodicReads): Promise<void> {
  const clients = siege.doors.filter(({ kind }) => kind !== 'admin')
  const all = [clients, siege.doors.filter(({ kind }) => kind === 'admin'), siege.doors]
  for (const [turn, doors] of all.entries()) {
    const each = Math.ceil(requests / all.length / doors.length)
    await siege.each(inChunks(doors, each), async ({ door, chunk, count }, line) => {
      const seed = siege.seed + turn * 1_000_003 + chunk * 10_007 + siege.doors.indexOf(door) * 101
      for (const made of fc.sample(wishOf(door), { numRuns: count, seed })) {
        const headers = [...authorization(door, siege.asked), ...made.wish.headers]
        const wish = { ...made.wish, path: siege.harvest.fill(door, made.wish.path), headers }
        const why = `fuzz of ${door.name} with seed ${seed}`
        const answer = await siege.ask(line, wish, why)
        if (answer !== undefined) siege.harvest.keep(door, answer)
        await periodic?.afterOne(line)
        const fault = answer === undefined ? null : surprise(door, made, answer)
        siege.expect(
          fault === null,
          why,
          wish,
          `was answered ${answer?.status}, ${fault}: ${answer?.text.slice(0, 300)}`,
        )
      }
    })
  }
}

/** Each answer of theirs takes a look at much of the ledger: few are made at a time, so they get few requests. */
const readsBooks = ({ name }: Door): boolean => name.includes(' /admin/v1/ledger/')
const FEWER = 20

function* inChunks(doors: readonly Door[], each: number) {
  for (let chunk = 0; chunk * CHUNK < each; chunk += 1) {
    for (const door of doors) {
      const count = Math.min(CHUNK, each - chunk * CHUNK)
      yield { door, chunk, count: readsBooks(door) ? Math.ceil(count / FEWER) : count }
    }
  }
}

function authorization({ kind }: Door, turn: number): Made['wish']['headers'] {
  if (kind === 'open') return []
  const user = attackers[turn % attackers.length] ?? attackers[0]
  const token = kind === 'admin' ? tokenOf('operator') : tokenOf('user', user)
  return token === null ? [] : [bearer(token)]
}

/** What an answer to somebody who may ask cannot be; null when it is none of that. */
function surprise(door: Door, { meant }: Made, { status, text }: Answer): string | null {
  const { kind } = door
  if (kind !== 'open' && (status === 401 || (status === 403 && kind === 'admin'))) return 'though the token is good'
  if (status === 429 && !readsBooks(door)) return 'though there is no limit'
  if (meant && [400, 413, 415, 431].includes(status)) return 'though all is as the documents say'
  if (meant && status === 422 && text.includes('"validation_failed"') && !text.includes('"errors"'))
    return 'without saying why'
  return null
}
