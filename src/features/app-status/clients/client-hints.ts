import type { ClientType } from '../../../../schema/events.ts'
import { headerValue, queryValue, type RequestHints } from '../../../language/request-language.ts'
import type { Client } from '../access-policy.ts'

const TYPE = 'client-type'
const VERSION = 'client-version'

/** `Client-Type` as sent, in a header or in the query; null when it is missing. */
export const clientTypeIn = ({ headers, query }: RequestHints): string | null =>
  headerValue(headers[TYPE]) ?? queryValue(query, TYPE)

/** `Client-Version` as sent, in a header or in the query; null when it is missing. */
export const clientVersionIn = ({ headers, query }: RequestHints): string | null =>
  asUtf8(headerValue(headers[VERSION])) ?? queryValue(query, VERSION)

/** Phones write digits of any script, which Node reads byte by byte; what is no UTF-8 stays as it was read. */
function asUtf8(header: string | null): string | null {
  if (header === null) return null
  const text = Buffer.from(header, 'latin1').toString()
  return text.includes('\ufffd') ? header : text
}

/** The client of a type and version; null when both are missing. */
export function toClient(type: string | null, version: string | null): Client | null {
  return type === null && version === null ? null : { type: parseClientType(type), version }
}

const types: ReadonlyMap<string, ClientType> = new Map([
  ['android', 'android'],
  ['ios', 'ios'],
  ['flutter', 'flutter'],
])

/** Null for an unknown type. */
export const parseClientType = (name: string | null): ClientType | null =>
  name === null ? null : (types.get(name) ?? types.get(name.trim().toLowerCase()) ?? null)
