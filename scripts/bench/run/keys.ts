import { randomBytes } from 'node:crypto'

/** Keys of this run, as environment variables of the servers. */
export const keys = {
  JWT_SECRET: randomBytes(32).toString('hex'),
  FAIRNESS_KEY: randomBytes(32).toString('hex'),
  PII_KEY: randomBytes(32).toString('hex'),
  CHECKPOINT_KEY: randomBytes(32).toString('hex'),
}
