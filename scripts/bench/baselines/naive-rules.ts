import type { EventData } from '../../../schema/events.ts'
import { sharesOf } from '../../../src/features/gifts/shares.ts'
import { account, isSystem } from '../../../src/ledger/rules/account.ts'
import type { Movement } from '../../../src/ledger/rules/event.ts'
import { percentOf } from '../../../src/ledger/rules/money.ts'
import { transfers } from '../../../src/ledger/rules/movement.ts'

export interface NaiveSend {
  readonly sender: number
  readonly decoration: number
  readonly receivers: readonly number[]
  readonly quantity: number
  readonly room: number
}

export interface DecidedGift {
  readonly data: EventData<'gift-sent'>
  readonly movements: readonly Movement[]
  /** The change of each account's balance, without system accounts. */
  readonly changes: ReadonlyMap<string, number>
}

/** The event of a standard gift, as the product decides it. Does not check for overflows. */
export function decideStandardGift(gift: NaiveSend, price: number): DecidedGift {
  const { sender, receivers, room, quantity, decoration } = gift
  const shares = sharesOf('standard', 0)
  const order = price * quantity
  const value = order * receivers.length
  const movements = transfers(
    [account('user', sender, 'diamonds'), account('house', 'gifts', 'diamonds'), value],
    ...receivers.map(
      (id) =>
        [
          account('issuance', 'gifts', 'target'),
          account('user', id, 'target'),
          percentOf(order, shares.receiver),
        ] as const,
    ),
    [account('issuance', 'gifts', 'target'), account('room', room, 'target'), percentOf(value, shares.room)],
  )
  const changes = new Map<string, number>()
  for (const { debit, credit, amount } of movements) {
    if (!isSystem(debit)) changes.set(debit, (changes.get(debit) ?? 0) - amount)
    if (!isSystem(credit)) changes.set(credit, (changes.get(credit) ?? 0) + amount)
  }
  const data: EventData<'gift-sent'> = {
    sender_id: sender,
    receiver_ids: [...receivers],
    room_id: room,
    decoration_id: decoration,
    kind: 'standard',
    price,
    quantity,
    cost: value,
    from_bag: false,
    encrypted: false,
    receiver_percent: shares.receiver,
    room_percent: shares.room,
    owner_percent: shares.owner,
    trophy_points: value,
  }
  return { data, movements, changes }
}
