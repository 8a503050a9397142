import type { CurrentIncarnation } from '../../ledger/subscriptions/current-incarnation.ts'
import type { ResumeBudget, ResumeUsage } from '../channels/resume-budget.ts'
import { socketMessages } from '../messages.ts'
import type { Client } from '../sockets/client.ts'
import { type AccessRefusal, accessChannel, type ChannelAccess, type MemberRoom } from './channel-access.ts'
import { type ChannelRequest, isPlain, requestsIn, type SubFrame, withoutRepeats } from './channel-request.ts'

export const UNAVAILABLE = { code: 'unavailable', message: socketMessages.unavailable, retry: true } as const

export interface AnswerParts {
  readonly incarnation: Pick<CurrentIncarnation, 'name' | 'accepts'>
  readonly resumes: Pick<ResumeBudget, 'run'>
  readonly memberRoom: MemberRoom
  readonly onError: (error: unknown) => void
}

/** Called with what was read when all that an answer needs is in memory. */
export type OnLoaded = (read: DatabaseReads) => void

/** What an answer needed of the database. */
export type DatabaseReads = Pick<ResumeUsage, 'queries' | 'readMessages'>

/** The user that sent a frame, and how its socket subscribes. */
export interface Subscriber {
  readonly userId: number
  readonly client: Client
  /** Answers a request for a channel that the user may have. */
  readonly subscribe: (access: ChannelAccess, request: ChannelRequest, onLoaded: OnLoaded) => Promise<void>
}

/** A request that is being answered. */
interface Answer {
  /** What was read, when all that the answer needs is in memory. Never rejects. */
  readonly loaded: Promise<DatabaseReads>
  /** Never rejects. */
  readonly sent: Promise<void>
}

/** Answers each request of a `sub`; one that is slow, refused or fails affects no other. */
export async function answerSub(sub: SubFrame, subscriber: Subscriber, parts: AnswerParts): Promise<void> {
  const groups = [...withoutRepeats(requestsIn(sub, (ledger) => parts.incarnation.accepts(ledger)))]
  for (let requests = groups.shift(); requests !== undefined; requests = groups.shift()) {
    const group = requests
    const [first] = group
    if (sub.chs === undefined && first !== undefined && isPlain(first)) {
      // The number of frames bounds how many of these a client may send.
      for (const { sent } of (await startAnswers(group, subscriber, parts)).answers) await sent
      continue
    }
    let answers: readonly Answer[] = []
    // Loads what all answers need in one turn of the user's budget; each is sent as soon as it can be.
    await parts.resumes.run(subscriber.userId, 0, async () => {
      const started = await startAnswers(group, subscriber, parts)
      answers = started.answers
      if (started.postponed.length > 0) groups.unshift(started.postponed)
      const reads = await Promise.all(answers.map(({ loaded }) => loaded))
      // They share their queries.
      const queries = Math.max(...reads.map((read) => read.queries))
      const readMessages = reads.reduce((sum, read) => sum + read.readMessages, 0)
      return { channels: answers.length, queries, readMessages, messages: 0, characters: 0 }
    })
    await Promise.all(answers.map(({ sent }) => sent))
  }
}

/**
 * Starts to answer requests together, so that they share their queries. Those for a channel that another one names
 * differently, a room by its uid and by its id, are postponed.
 */
async function startAnswers(
  requests: readonly ChannelRequest[],
  subscriber: Subscriber,
  parts: AnswerParts,
): Promise<{ readonly answers: readonly Answer[]; readonly postponed: readonly ChannelRequest[] }> {
  const { userId } = subscriber
  const access = await Promise.allSettled(requests.map(({ ch }) => accessChannel(ch, userId, parts.memberRoom)))
  const keys = access.map((found) => (found.status === 'fulfilled' && 'key' in found.value ? found.value.key : null))
  const isRepeated = (n: number): boolean => keys[n] !== null && keys.indexOf(keys[n] ?? null) < n
  const postponed = requests.filter((_request, n) => isRepeated(n))
  const answers = requests.flatMap((request, n) => {
    if (isRepeated(n)) return []
    const { promise: loaded, resolve: onLoaded } = Promise.withResolvers<DatabaseReads>()
    const sent = answer(request, access[n], subscriber, parts, onLoaded).finally(() =>
      onLoaded({ queries: 0, readMessages: 0 }),
    )
    return [{ loaded, sent }]
  })
  return { answers, postponed }
}

/** Always answers the client. A failure is answered with `retry`. */
async function answer(
  request: ChannelRequest,
  access: PromiseSettledResult<ChannelAccess | AccessRefusal> | undefined,
  { client, subscribe }: Subscriber,
  { onError }: AnswerParts,
  onLoaded: OnLoaded,
): Promise<void> {
  const { i, ch } = request
  try {
    if (access?.status !== 'fulfilled') throw access?.reason
    if ('code' in access.value) client.refuse({ i, ch, ...access.value })
    else await subscribe(access.value, request, onLoaded)
  } catch (error) {
    onError(error)
    client.refuse({ i, ch, ...UNAVAILABLE })
  }
}
