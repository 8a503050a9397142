import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { addressWith } from '../frame/address.ts'
import { isoNow } from '../frame/iso-now.ts'
import { staffOf } from '../session/session-check.ts'

interface Export {
  readonly db: Kysely<Tables>
  readonly fileName: string
  readonly list: string
  /** The path of the page that shows the same. */
  readonly page: string
  readonly filters: Readonly<Record<string, string | undefined>>
  /** The position that what was exported is pinned to. */
  readonly at: number
  /** What only exports of this kind say. */
  readonly more: Readonly<Record<string, string | number>>
}

/** Sends the file that says what was exported: page, filters, position, hash of that event, who and when. */
export async function sendAboutExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, fileName, list, page, filters, at, more }: Export,
): Promise<FastifyReply> {
  const event = await db.selectFrom('ledger_events').select('hash').where('position', '=', at).executeTakeFirst()
  const about = {
    list,
    page: addressWith(page, { ...filters, at }),
    filters,
    ...more,
    position: at,
    hash: event?.hash ?? null,
    exported_by: `staff:${staffOf(request).sub}`,
    exported_at: isoNow(),
  }
  return reply
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .type('application/json; charset=utf-8')
    .send(`${JSON.stringify(about, null, 2)}\n`)
}
