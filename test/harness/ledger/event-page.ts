import type { Movement } from '../../../src/ledger/rules/account.ts'
import type { Page } from '../../../src/ledger/storage/copy-rows.ts'
import { packMovements } from '../../../src/ledger/storage/packed-columns.ts'

/** A page of events with only movements, at positions 1, 2, 3, …, in the format of `copyBinaryRows`. */
export const eventPage = (events: readonly (readonly Movement[])[]): Page =>
  Buffer.concat(events.map((movements, i) => row(i + 1, movements)))

function row(position: number, movements: readonly Movement[]): Buffer {
  const columns: (Buffer | null)[] = [
    bigint(position),
    Buffer.from('moved'),
    Buffer.from([0, 1]),
    Buffer.from('{}'),
    Buffer.from(packMovements(movements)),
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
