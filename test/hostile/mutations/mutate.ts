import { type Door, pathOf, reads } from '../../harness/http/api-routes.ts'
import type { Line } from '../../harness/http/http-connection.ts'
import { bearer, jsonType, plain, type Wish } from '../../harness/http/request.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import type { Siege } from '../attack-run/attack-run.ts'
import { SECRET_CANARY } from '../attack-run/canaries.ts'
import { heard } from '../attack-run/id-pool.ts'
import type { PeriodicReads } from '../attack-run/periodic-reads.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { type Bend, bendsOf, bentBody } from './mutations.ts'
import { readersOf } from './readers.ts'

/** What is spent is put back after so many of them. */
const REFILL_EVERY = 400
/** So often a field that is meant for another branch of a union takes its turn: there are few, and they are easily missed. */
const OTHER_BRANCH_EVERY = 4
const STRIDE = 7_919

/**
 * Every field of every route that writes, bent to every hostile value; what is accepted is sent again and read wherever it
 * is shown. As many rounds of them as fit into so many requests.
 */
export async function bend(siege: Siege, requests: number, periodic: PeriodicReads): Promise<void> {
  const doors = siege.doors.filter((door) => !reads(door) && door.kind !== 'open' && !/revoke/.test(door.name))
  const all = doors.flatMap((door) => bendsOf(door.body ?? {}).map((bend) => ({ door, bend })))
  const ofOtherBranches = all.filter(({ door, bend }) => isOfOtherBranch(door, bend))
  const until = siege.asked + requests
  const turns = function* () {
    // What is not answered is not counted: a service that is gone must not be asked for ever.
    for (let n = 0; n < requests && siege.asked < until; n += 1) {
      const list = n % OTHER_BRANCH_EVERY === 0 ? ofOtherBranches : all
      // Neighbours in the list are of one route: a prime stride takes them all, mixed.
      const one = list[(siege.seed + n * STRIDE) % list.length]
      if (one !== undefined) yield { ...one, n }
    }
  }
  let accepted = 0
  await siege.each(turns(), async ({ door, bend, n }, line) => {
    if (n % REFILL_EVERY === 0) await refill(siege, line)
    if (await bendOne(siege, line, door, bend, n)) accepted += 1
    await periodic.afterOne(line)
  })
  siege.stage.tell(
    `${all.length} ways to bend a field of ${doors.length} routes; ${accepted} were accepted and read back`,
  )
}

const isOfOtherBranch = ({ body }: Door, { isUnknown, path: [name = ''] }: Bend): boolean =>
  isUnknown && body?.anyOf?.some(({ properties = {} }) => name in properties) === true

async function refill(siege: Siege, line: Line): Promise<void> {
  for (const id of attackers) {
    for (const currency of ['coins', 'diamonds', 'dollars', 'agent_dollars']) {
      const body = { currency, amount: 10_000, reason: 'to be spent' }
      await siege.ask(line, plain('POST', `/admin/v1/users/${id}/credits`, tokenOf('operator') ?? '', body), 'refill')
    }
  }
}

async function bendOne(siege: Siege, line: Line, door: Door, bend: Bend, n: number): Promise<boolean> {
  const caller = attackers[n % 2] ?? attackers[0]
  const path = siege.harvest.fill(door, pathOf(door, paramsFor(door, n), n % 3 === 0))
  const token = door.kind === 'admin' ? tokenOf('operator') : tokenOf('user', caller)
  const wish: Wish = {
    method: door.method,
    path,
    headers: [bearer(token ?? ''), jsonType, ['Idempotency-Key', `bend-${siege.seed}-${n}`]],
    body: bentBody(bend, caller, n),
  }
  // A fault shows the request itself: all values of a field that meet the same fault are told once.
  const why = `${door.name} with a bent ${bend.path.join('.')}`
  const first = await siege.ask(line, wish, why)
  if (first === undefined || first.status >= 300) return false
  siege.harvest.keep(door, first)
  const again = await siege.ask(line, wish, `${why}, again`)
  siege.expect(
    same(first, again),
    `${why}, again`,
    wish,
    `was answered ${first.text.slice(0, 300)} and then ${again?.text.slice(0, 300)}`,
  )
  for (const { wish: read, mayKnow } of readersOf(door, path, siege.doors, caller)) {
    const shown = await siege.ask(line, read, `${read.path} after ${door.name}`)
    if (shown === undefined) continue
    siege.expect(
      shown.status < 400 || shown.status === 403 || shown.status === 404,
      `${read.path} after ${door.name}`,
      read,
      `was answered ${shown.status}`,
    )
    siege.expect(
      mayKnow || !shown.text.includes(SECRET_CANARY),
      `${read.path} after ${door.name}`,
      read,
      'tells what was said in confidence',
    )
  }
  return true
}

const same = (first: Answer, again: Answer | undefined): boolean =>
  first.status === again?.status && first.text === again.text

/** Ids of what is bent, apart from those that the other requests lean on. */
function paramsFor({ path, params }: Door, n: number): Readonly<Record<string, string>> {
  const of = (name: string): string => {
    if (name === 'room_uid' || name === 'uid') return 'R1'
    if (name === 'client_type') return ['android', 'ios', 'flutter'][n % 3] ?? 'ios'
    if (path.startsWith('/admin/v1/users')) return String(6 + (n % 3))
    if (/^\/admin\/v1\/(rooms|countries|decorations|privilege-packages)/.test(path)) return String(50 + (n % 10))
    return name === 'user_id' ? '6' : heard(n)
  }
  return Object.fromEntries(Object.keys(params).map((name) => [name, of(name)]))
}
