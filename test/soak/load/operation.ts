import type { Actor } from './people.ts'

export type Kind =
  | 'define'
  | 'room'
  | 'enter'
  | 'gift'
  | 'lucky'
  | 'bag'
  | 'fill'
  | 'credit'
  | 'debit'
  | 'seed'
  | 'wallet'
  | 'grant'
  | 'activate'
  | 'transfer'
  | 'create'
  | 'host'
  | 'join'
  | 'leave'
  | 'finish'
  | 'cancel'
  | 'request'
  | 'approve'
  | 'reject'
  | 'settle'
  | 'instant'

/** A request of a client; a retry with the same key is identical. */
export interface Operation {
  readonly kind: Kind
  readonly actor: Actor
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body: string | null
  /** Called with the first successful answer. */
  readonly onDone?: (text: string) => void
}

/** Cards of a grant, each of which is one event. */
export const GRANTED = 3

/** The exact events of one command, in order, by kind. */
export const eventsOf: Readonly<Record<Kind, RegExp>> = {
  define: /^(user-defined ?)+$/,
  room: /^room-defined( room-joined)?$/,
  enter: /^$/,
  gift: /^gift-sent$/,
  lucky: /^(lucky-chain-opened )*gift-drawn$/,
  bag: /^(gift-sent|(lucky-chain-opened )*gift-drawn)$/,
  fill: /^bag-items-added$/,
  credit: /^balance-credited$/,
  debit: /^balance-debited$/,
  seed: /^(lucky-chain-opened ?){1,2}$/,
  wallet: /^$/,
  grant: new RegExp(`^card-granted( card-granted){${GRANTED - 1}}$`),
  activate: /^card-activated privilege-(days-added|replaced)$/,
  transfer: /^card-moved$/,
  create: /^roulette-created$/,
  host: /^roulette-created roulette-joined$/,
  join: /^roulette-joined$/,
  leave: /^roulette-left$/,
  finish: /^roulette-finished$/,
  cancel: /^roulette-cancelled$/,
  request: /^withdrawal-requested$/,
  approve: /^withdrawal-status-changed$/,
  reject: /^withdrawal-status-changed$/,
  settle: /^withdrawal-status-changed$/,
  instant: /^instant-transfer-made$/,
}
