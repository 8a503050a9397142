import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { EventData } from '../../schema/events.ts'
import type { Tables } from '../db/tables.ts'
import { isMember, leftEvent, memberKeys } from '../features/rooms/member.ts'
import { roomsJoinedBy } from '../features/rooms/reads.ts'
import { rooms } from '../features/rooms/room.ts'
import { erasedUid, revokeSessions } from '../features/users/user.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import { runVerb, VerbRefused } from '../ledger/executor/run-verb.ts'
import type { Verb } from '../ledger/rules/verb.ts'
import type { Notifier } from '../notifications/notifier.ts'
import { destroyRecords } from '../vault/reads.ts'
import { eraseProfile } from './erase-profile.ts'
import {
  deleteStoredClient,
  findRepliesNaming,
  findUserData,
  isIdentifiable,
  redactNotifications,
  redactReplies,
} from './personal-rows.ts'

/** After this time all instances refuse revoked sessions. */
const REVOCATION_DELAY_MS = 1_000

/** Memberships that one command ends. */
const MAX_ROOMS_PER_COMMAND = 500

/** Redacted replies per event. */
const MAX_REPLIES_PER_EVENT = 500

/** The user cannot be erased now; `code` is the code of the refusal. */
export class ErasureRefused extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

export interface ErasureSummary {
  /** Vault records whose keys were destroyed. */
  readonly records: number
  readonly devices: number
  /** Rooms of others that the user was a member of. */
  readonly rooms: number
  /** Stored replies in which the user was redacted. */
  readonly replies: number
}

/**
 * Erases the personal data of a user; balances and history stay on the ledger under the user's id. Safe to repeat, and
 * continues an interrupted erasure. Throws `ErasureRefused` (`not_found`, `withdrawal_open`) before anything is erased.
 */
export async function eraseUser(
  executor: Executor,
  db: Kysely<Tables>,
  userId: number,
  {
    actor,
    notifier,
    revocationDelayMs = REVOCATION_DELAY_MS,
  }: { actor: string; notifier: Notifier; revocationDelayMs?: number },
): Promise<ErasureSummary> {
  const run = async <Input>(verb: Verb<Input, unknown>, input: Input): Promise<void> => {
    try {
      await runVerb(executor, verb, input, actor)
    } catch (error) {
      throw error instanceof VerbRefused ? new ErasureRefused(error.refusal.refusal) : error
    }
  }
  const findRooms = () => roomsJoinedBy(db, userId, MAX_ROOMS_PER_COMMAND)
  const dataBefore = await findUserData(db, userId)
  if (dataBefore.withdrawal_ids.length > 0) throw new ErasureRefused('withdrawal_open')
  if (await isIdentifiable(db, userId)) {
    // Without sessions the user cannot add new personal data during the erasure.
    await run(revokeSessions, { user_id: userId })
    await sleep(revocationDelayMs)
  }
  const data = await findUserData(db, userId)
  const new_uid = erasedUid(randomBytes(16).toString('hex'))
  await run(eraseProfile, { user_id: userId, new_uid, ...data })
  let rooms = 0
  for (let joined = await findRooms(); joined.length > 0; joined = await findRooms()) {
    await run(leaveRooms, { user_id: userId, room_ids: joined })
    rooms += joined.length
  }
  const records = await destroyRecords(db, userId)
  await redactNotifications(db, userId, notifier)
  await deleteStoredClient(db, userId)
  let replies = 0
  // Repeats until none is left: another user in the same reply may be erased at the same time.
  for (let named = await findRepliesNaming(db, userId); named.length > 0; named = await findRepliesNaming(db, userId)) {
    for (let i = 0; i < named.length; i += MAX_REPLIES_PER_EVENT) {
      const some = named.slice(i, i + MAX_REPLIES_PER_EVENT)
      // The event comes first: `verify` reports a reply whose hash is not on the ledger.
      const noted = some.map(({ key, reply_hash }) => ({ key, reply_hash }))
      await run(recordRedactedReplies, { user_id: userId, replies: noted })
      replies += await redactReplies(db, some)
    }
  }
  return { records, devices: data.devices.length, rooms, replies }
}

interface LeaveRooms {
  readonly user_id: number
  readonly room_ids: readonly number[]
}

/**
 * Ends a user's memberships in rooms of other owners. A seat in an open game stays, with the user's stake. Never refused.
 */
const leaveRooms: Verb<LeaveRooms, null> = {
  refusals: [],
  reads: ({ user_id, room_ids }) => room_ids.flatMap((room_id) => memberKeys(room_id, user_id)),
  decide: (state, { user_id, room_ids }) =>
    room_ids.flatMap((room_id) => {
      const isOwner = state.get(rooms, String(room_id))?.owner_id === user_id
      return isOwner || !isMember(state, room_id, user_id) ? [] : [leftEvent(room_id, user_id)]
    }),
  result: () => null,
}

type RecordRedactedReplies = EventData<'replies-blanked'>

/** Records the new hashes of stored replies before they are redacted, so that audits accept them. Never refused. */
export const recordRedactedReplies: Verb<RecordRedactedReplies, null> = {
  refusals: [],
  reads: () => [],
  decide: (_state, data) => [{ type: 'replies-blanked', data, movements: [] }],
  result: () => null,
}
