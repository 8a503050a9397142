import type { Notification } from '../../schema/notifications.ts'

/** A notification for one device. */
export interface Delivery {
  /** The device's push token: personal data, used to address the message and for nothing else. */
  readonly token: string
  /** The position of its ledger event, the same on every attempt. */
  readonly position: number
  readonly notification: Notification
}

export type Outcome =
  | { readonly kind: 'delivered' }
  /** The token is no longer registered. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'later'
      /** For the log; quotes nothing of the request. */
      readonly why: string
      /** Whether only this device is affected. */
      readonly isDeviceOnly: boolean
      /** The delay that the server requested; 0 without one. */
      readonly afterMs: number
    }

/** Attempts to send a notification once. Never rejects. */
export type Send = (delivery: Delivery) => Promise<Outcome>
