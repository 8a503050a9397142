import type { Movement } from '../../../src/ledger/rules/account.ts'
import type { Page } from '../../../src/ledger/storage/copy-rows.ts'

/** Object ids of PostgreSQL's types. */
const TEXT = 25
const BIGINT = 20

/** A page of events with only movements, at positions 1, 2, 3, …, in the format of `copyBinaryRows`. */
export const eventPage = (events: readonly (readonly Movement[])[]): Page =>
  Buffer.concat(events.map((movements, i) => row(i + 1, movements)))

function row(position: number, movements: readonly Movement[]): Buffer {
  const columns: (Buffer | null)[] = [
    bigint(position),
    Buffer.from('moved'),
    Buffer.from([0, 1]),
    Buffer.from('{}'),
    list(
      TEXT,
      movements.map(({ debit }) => Buffer.from(debit)),
    ),
    list(
      TEXT,
      movements.map(({ credit }) => Buffer.from(credit)),
    ),
    list(
      BIGINT,
      movements.map(({ amount }) => bigint(amount)),
    ),
    Buffer.from('system'),
    bigint(0),
    Buffer.from('request'),
    null,
    null,
    Buffer.from('hash'),
  ]
  return Buffer.concat([Buffer.from([0, columns.length]), ...columns.map(field)])
}

/** Length and bytes of a column. */
const field = (bytes: Buffer | null): Buffer =>
  bytes === null ? int32(-1) : Buffer.concat([int32(bytes.length), bytes])

const list = (type: number, elements: readonly Buffer[]): Buffer =>
  elements.length === 0
    ? Buffer.concat([0, 0, type].map(int32))
    : Buffer.concat([...[1, 0, type, elements.length, 1].map(int32), ...elements.map(field)])

function int32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(number)
  return bytes
}

function bigint(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(number))
  return bytes
}
