import { parseId } from '../../ledger/rules/account.ts'
import { type Key, keyOf, type State } from '../../ledger/rules/projection.ts'
import { rooms, roomUids } from './room.ts'

/**
 * A room as a request names it. Text, of a path or of JSON, is a uid or else an id in canonical digits; a number is an
 * id or else a uid.
 */
export type RoomRef = number | string

/** The rows that the reference names. */
export function roomRefKeys(ref: RoomRef): readonly Key[] {
  if (typeof ref === 'number') return [keyOf(rooms, ref)]
  const id = parseId(ref)
  return [keyOf(roomUids, ref), ...(id === null ? [] : [keyOf(rooms, id)])]
}

/** The row of a uid, for a number that is no id; to be named once `roomRefKeys` are loaded. */
export const dependentRoomRefKeys = (state: State, ref: RoomRef): readonly Key[] =>
  typeof ref === 'number' && state.get(rooms, String(ref)) === undefined ? [keyOf(roomUids, ref)] : []

/** The id of the room; undefined when there is none, or when the row of a uid is not loaded yet. */
export function resolveRoomRef(state: State, ref: RoomRef): number | undefined {
  const idOf = (id: number | null): number | undefined =>
    id === null ? undefined : state.get(rooms, String(id))?.room_id
  if (typeof ref === 'string') return state.get(roomUids, ref)?.room_id ?? idOf(parseId(ref))
  const uid = String(ref)
  return idOf(ref) ?? (state.isLoaded(roomUids, uid) ? state.get(roomUids, uid)?.room_id : undefined)
}
