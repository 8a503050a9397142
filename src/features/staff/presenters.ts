import type { RevokedStaffSessions } from '../../../schema/operator.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { StaffSession } from './staff.ts'

export const revokedStaffSessions = ({ sub, revoked_before }: StaffSession): RevokedStaffSessions => ({
  sub,
  sessions_revoked_before: isoMicros(revoked_before * 1_000_000),
})
