import type { Kysely } from 'kysely'
import type { Person } from '../../../schema/common.ts'
import type { Tables } from '../../db/tables.ts'
import type { StoredName } from '../../language/names.ts'

/** A user as frames show them; `picture` is the avatar's full address. */
export interface UserProfile extends Person {
  readonly picture: string
}

/**
 * Names and pictures, which no ledger event has: they are looked up when a frame is built. Erased users are missing.
 */
export interface Profiles {
  readonly users: ReadonlyMap<number, UserProfile>
  readonly rooms: ReadonlyMap<number, { readonly uid: string; readonly name: string }>
  readonly decorations: ReadonlyMap<
    number,
    { readonly name: string; readonly image_path: string; readonly video_path: string | null }
  >
  readonly packages: ReadonlyMap<number, StoredName>
}

/** The ids whose profiles a frame needs. */
export type RequiredIds = { readonly [Kind in keyof Profiles]?: readonly number[] }

/** Reads profiles by id, in one query for all events of a batch. */
export type ProfileLookups = {
  readonly [Kind in keyof Profiles]: (db: Kysely<Tables>, ids: readonly number[]) => Promise<Profiles[Kind]>
}

/** A user's profile; empty fields for an erased user, who still took part. */
export const userProfile = ({ users }: Profiles, id: number): UserProfile =>
  users.get(id) ?? { id, name: '', avatar: '', uid: '', picture: '' }
