import type { Notification } from '../../schema/notifications.ts'

/** A notification on its way to one device. */
export interface Delivery {
  /** The device's: personal data, for the address of a message and nothing else. */
  readonly token: string
  /** The position of the event that it tells of: the same on every try. */
  readonly position: number
  readonly notification: Notification
}

export type Outcome =
  | { readonly kind: 'delivered' }
  /** The token leads nowhere any more. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'later'
      /** A word for the log that quotes nothing of what was sent. */
      readonly why: string
      /** Whether it lies with this device alone, so that others can do better. */
      readonly deviceOnly: boolean
      /** How long we are asked to wait; 0 when we are not. */
      readonly afterMs: number
    }

/** Sends a notification once. Never rejects. */
export type Send = (delivery: Delivery) => Promise<Outcome>
