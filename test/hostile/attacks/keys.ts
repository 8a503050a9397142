import * as fc from 'fast-check'
import { type Door, reads } from '../../harness/http/api-routes.ts'
import type { Line } from '../../harness/http/http-connection.ts'
import { bearer, type Wish } from '../../harness/http/request.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import type { Siege } from '../attack-run/attack-run.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { wishOf } from '../requests/request-generators.ts'

/** Tries of each door. */
const EACH = 8
/** How often one request is sent at once. */
const AT_ONCE = 4

const replayed = (answer: Answer | undefined): boolean => answer?.headers.get('idempotency-replayed') === 'true'
const went = (answer: Answer | undefined): answer is Answer => answer !== undefined && answer.status < 300

/** Keys that were used, once more: for the same, for another body, at another door, by somebody else, and all at once. */
export async function keys(siege: Siege): Promise<void> {
  const doors = siege.doors.filter((door) => !reads(door) && door.kind !== 'open')
  const tries = doors.flatMap((door, i) => {
    const meant = wishOf(door).filter((made) => made.meant)
    const made = fc.sample(meant, { numRuns: EACH * 2, seed: siege.seed + i })
    return Array.from({ length: EACH }, (_, n) => ({
      door,
      key: `${siege.seed}-${i}-${n}`,
      wish: made[n]?.wish,
      other: made[EACH + n]?.wish,
      elsewhere: doors[(i + 1 + n) % doors.length],
    }))
  })
  await siege.each(siege.some(tries), async ({ door, key, wish, other, elsewhere }, line) => {
    if (wish === undefined || other === undefined || elsewhere === undefined) return
    const filled = (wish: Wish): Wish => ({ ...wish, path: siege.harvest.fill(door, wish.path) })
    await reuse(siege, line, { door, key, wish: filled(wish), other: filled(other), elsewhere })
  })
}

interface Try {
  readonly door: Door
  readonly key: string
  readonly wish: Wish
  readonly other: Wish
  readonly elsewhere: Door
}

async function reuse(siege: Siege, line: Line, { door, key, wish, other, elsewhere }: Try): Promise<void> {
  const role = door.kind === 'admin' ? 'operator' : 'user'
  const as = (wish: Wish, token: string | null): Wish => ({
    ...wish,
    headers: [
      ...(token === null ? [] : [bearer(token)]),
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', key],
    ],
  })
  const mine = as(wish, tokenOf(role, attackers[0]))
  const why = `key ${key} at ${door.name}`
  const first = await siege.ask(line, mine, why)
  if (first === undefined) return
  siege.harvest.keep(door, first)
  const again = await siege.ask(line, mine, `${why}, again`)
  if (replayed(again)) {
    const same = again?.status === first.status && again.text === first.text
    siege.expect(same, `${why}, again`, mine, `was answered ${first.text} and then ${again?.text}`)
  } else if (went(first)) {
    // Whatever is not remembered must not have done anything.
    const sameId = first.headers.get('x-request-id')
    if (sameId !== undefined) siege.idle.add(sameId)
    siege.expect(again?.text === first.text, `${why}, again`, mine, 'was neither remembered nor answered the same')
  }
  const remembered = replayed(again)

  const changed = as(other, tokenOf(role, attackers[0]))
  if (String(other.body) !== String(wish.body) || other.path !== wish.path) {
    const answer = await siege.ask(line, changed, `${why}, for another request`)
    const isSame = replayed(answer) && answer?.text === first.text
    siege.expect(!remembered || !went(answer) || isSame, `${why}, for another request`, changed, 'was done')
  }
  if (remembered && elsewhere !== door && elsewhere.kind === door.kind) {
    const path = elsewhere.path.replaceAll(/\{\w+\}/g, '1')
    const there = { ...mine, method: elsewhere.method, path }
    const answer = await siege.ask(line, there, `${why}, at ${elsewhere.name}`)
    siege.expect(!went(answer), `${why}, at ${elsewhere.name}`, there, 'was done')
  }
  const others = as(wish, door.kind === 'admin' ? tokenOf('finance') : tokenOf('user', attackers[1]))
  const theirs = await siege.ask(line, others, `${why}, by somebody else`)
  siege.expect(!replayed(theirs), `${why}, by somebody else`, others, 'was answered with what is not theirs')
  await sameAtOnce(siege, as(other, tokenOf(role, attackers[2])), `${key}-at-once`, why)
}

/** However many of one request arrive together, one is done and the others hear of it. */
async function sameAtOnce(siege: Siege, wish: Wish, key: string, why: string): Promise<void> {
  const keyed: Wish = {
    ...wish,
    headers: wish.headers.map(([name, value]) => (name === 'Idempotency-Key' ? [name, key] : [name, value])),
  }
  const answers: Answer[] = []
  await siege.each(Array.from({ length: AT_ONCE }), async (_, line) => {
    const answer = await siege.ask(line, keyed, `${why}, at once`)
    if (answer !== undefined) answers.push(answer)
  })
  const fresh = answers.filter((answer) => !replayed(answer))
  const texts = new Set(answers.map(({ text }) => text))
  const once = answers.every(({ status }) => status < 300) ? texts.size === 1 : true
  const doneOnce = fresh.filter(went).length <= 1 || fresh.length === answers.length
  siege.expect(once && doneOnce, `${why}, at once`, keyed, `was answered ${[...texts].join(' and ')}`)
}
