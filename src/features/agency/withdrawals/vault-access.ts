import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import type { Withdrawal } from '../../../../schema/agency.ts'
import type { Tables } from '../../../db/tables.ts'
import type { StaffRole } from '../../../http/auth/caller.ts'
import { openRecords } from '../../../vault/reads.ts'
import type { SealedRecord } from '../../../vault/record.ts'
import type { Vault } from '../../../vault/vault.ts'
import { findRequesterAndDetails } from '../reads.ts'

type Db = Kysely<Tables>

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

/** Only the shape: the limits of texts may have changed since the record was written. */
const Details = TypeCompiler.Compile(
  Type.Object({
    bank_details: nullable(
      Type.Object({ bank_name: Type.String(), account_name: Type.String(), account_number: Type.String() }),
    ),
    payment_method: nullable(Type.String()),
    user_notice: nullable(Type.String()),
  }),
)

type Details = Pick<Withdrawal, 'bank_details' | 'payment_method' | 'user_notice'>

/** The fields of a request that are stored in the vault. */
type SealedFields = Details & Pick<Withdrawal, 'note'>

/** Plaintexts of vault records by record id; null for a record that cannot be opened. */
type KnownPlaintext = ReadonlyMap<string, string | null>

/** A record for the vault, and the digest that stands for its text in request hashes; both null without a text. */
export interface SealedText {
  readonly record: SealedRecord | null
  readonly digest: string | null
  readonly plaintext: ReadonlyMap<string, string>
}

const nothingSealed: SealedText = { record: null, digest: null, plaintext: new Map() }

/** Seals what a requester wrote; empty texts count as missing. */
export function sealDetails(vault: Vault, userId: number, details: Partial<Details>): SealedText {
  const { bank_details = null, payment_method, user_notice } = details
  if (bank_details === null && !payment_method && !user_notice) return nothingSealed
  const bank = bank_details && {
    bank_name: bank_details.bank_name,
    account_name: bank_details.account_name,
    account_number: bank_details.account_number,
  }
  const clear = { bank_details: bank, payment_method: payment_method || null, user_notice: user_notice || null }
  return sealText(vault, userId, JSON.stringify(clear))
}

/** Seals a note about a user's request; an empty note counts as missing. */
const sealNote = (vault: Vault, userId: number, note: string | undefined): SealedText =>
  note ? sealText(vault, userId, note) : nothingSealed

function sealText(vault: Vault, userId: number, clear: string): SealedText {
  const record = vault.seal(userId, clear)
  return { record, digest: vault.digest(clear), plaintext: new Map([[record.record_id, clear]]) }
}

/**
 * Seals a note for a status change, and opens the details of the request for the response. Without a request there is no
 * user whom the note could belong to.
 */
export async function sealNoteForChange(
  db: Db,
  vault: Vault,
  withdrawalId: number,
  note: string | undefined,
): Promise<{ readonly isKnown: boolean; readonly note: SealedText; readonly plaintexts: KnownPlaintext }> {
  const request = await findRequesterAndDetails(db, withdrawalId)
  // The digest is part of the request hash, so a retry matches whether or not the withdrawal exists by now.
  if (request === undefined) {
    const digest = note ? vault.digest(note) : null
    return { isKnown: false, note: { ...nothingSealed, digest }, plaintexts: new Map() }
  }
  const sealed = sealNote(vault, request.user_id, note)
  const opened = await openRecords(db, vault, request.details === null ? [] : [request.details])
  return { isKnown: true, note: sealed, plaintexts: new Map([...opened, ...sealed.plaintext]) }
}

/** Finance sees the last digits of an account number and no notice; `whole` shows everything. */
export type Viewer = 'whole' | 'finance'

/** What staff with a role may see. */
export const viewerWith = (role: StaffRole): Viewer => (role === 'operator' ? 'whole' : 'finance')

/** A request with the ids of its vault records. */
interface HasSealedFields {
  readonly sealed: { readonly details: string | null; readonly note: string | null }
}

/**
 * Fills in the fields of requests that are in the vault, as the viewer may see them. Null for erased records, and for
 * records that cannot be read, which `unreadable` marks.
 */
export async function unseal<Record extends HasSealedFields>(
  db: Db,
  vault: Vault,
  sealed: readonly Record[],
  { viewer = 'whole', plaintexts = new Map() }: { readonly viewer?: Viewer; readonly plaintexts?: KnownPlaintext } = {},
): Promise<Unsealed<Record>[]> {
  const ids = sealed.flatMap(({ sealed: { details, note } }) => [details, note]).filter((id) => id !== null)
  const unknown = ids.filter((id) => !plaintexts.has(id))
  const opened = unknown.length === 0 ? [] : await openRecords(db, vault, unknown)
  return unsealWith(vault, sealed, new Map([...plaintexts, ...opened]), viewer)
}

type Unsealed<Record> = Omit<Record, 'sealed'> & SealedFields & Unreadable

/** As `unseal`, with the plaintexts of all records; erased ones are missing. */
export function unsealWith<Record extends HasSealedFields>(
  vault: Vault,
  sealed: readonly Record[],
  plaintexts: KnownPlaintext,
  viewer: Viewer = 'whole',
): Unsealed<Record>[] {
  return sealed.map(({ sealed: { details, note }, ...record }) => {
    const detailsText = details === null ? undefined : plaintexts.get(details)
    const parsedDetails = details === null || !detailsText ? undefined : parseDetails(detailsText)
    if (details !== null && parsedDetails === null) vault.reportUnreadable(details, 'malformed')
    const noteText = note === null ? undefined : plaintexts.get(note)
    const fields = { ...(parsedDetails ?? noDetails), note: noteText ?? null }
    const unreadable = detailsText === null || parsedDetails === null || noteText === null
    return {
      ...record,
      ...(viewer === 'finance' ? maskForFinance(fields) : fields),
      ...(unreadable && { unreadable }),
    }
  })
}

type Unreadable = Pick<Withdrawal, 'unreadable'>

/** Parses a record of details; null when it is malformed. */
function parseDetails(text: string): Details | null {
  const fields = parseJson(text)
  if (!Details.Check(fields)) return null
  const { bank_details, payment_method, user_notice } = fields
  return { bank_details, payment_method, user_notice }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const SealedBody = Type.Object({
  data: Type.Object({
    sealed: Type.Object({ details: nullable(Type.String()), note: nullable(Type.String()) }),
  }),
})

/**
 * The `hydrate` of a reply that is one request: stored sealed, sent with its vault fields. Known `plaintexts` are not read
 * again, so that the reply goes out before the frames of the same commit.
 */
export const hydrateSealed =
  (db: Db, vault: Vault, plaintexts: KnownPlaintext) =>
  async (body: unknown): Promise<unknown> => {
    if (!Value.Check(SealedBody, body)) throw new Error('the stored reply is not a sealed request')
    const [data] = await unseal(db, vault, [body.data], { plaintexts })
    return { ...body, data }
  }

const noDetails = { bank_details: null, payment_method: null, user_notice: null }

const MASK = '****'

const maskForFinance = ({ bank_details, payment_method, note }: SealedFields): SealedFields => ({
  bank_details: bank_details && {
    bank_name: MASK,
    account_name: MASK,
    account_number: lastFour(bank_details.account_number),
  },
  payment_method,
  user_notice: null,
  note,
})

/** Splits by characters, because half of a surrogate pair is not valid text. */
function lastFour(text: string): string {
  const characters = Array.from(text)
  return characters.length > 4 ? `${MASK}${characters.slice(-4).join('')}` : MASK
}
