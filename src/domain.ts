import { evolveInstantTransfers } from './features/agency/instant-transfer.ts'
import { evolveSalaries } from './features/agency/salaries/deposit-salaries.ts'
import { agencyTables } from './features/agency/tables.ts'
import { evolveWithdrawals } from './features/agency/withdrawals/withdrawal.ts'
import { evolveModes } from './features/app-status/mode.ts'
import { evolveReleases } from './features/app-status/releases/release.ts'
import { appStatusTables } from './features/app-status/tables.ts'
import { evolveLuckyChains } from './features/fairness/lucky-progress.ts'
import { fairnessTables } from './features/fairness/tables.ts'
import { evolveBags } from './features/gifts/bag/bag.ts'
import { evolveDecorations } from './features/gifts/catalogue/decoration.ts'
import { evolveStreaks } from './features/gifts/streak.ts'
import { giftTables } from './features/gifts/tables.ts'
import { evolveCards } from './features/privilege/card.ts'
import { evolvePackages } from './features/privilege/packages/package.ts'
import { evolvePrivileges } from './features/privilege/privilege.ts'
import { privilegeTables } from './features/privilege/tables.ts'
import { evolveRooms } from './features/rooms/room.ts'
import { roomTables } from './features/rooms/tables.ts'
import { evolveGames } from './features/roulette/game.ts'
import { rouletteTables } from './features/roulette/tables.ts'
import { evolveStaff } from './features/staff/staff.ts'
import { staffTables } from './features/staff/tables.ts'
import { userTables } from './features/users/tables.ts'
import { evolveUsers } from './features/users/user.ts'
import { combineEvolvers, type Evolve, type EvolveFact } from './ledger/rules/evolve.ts'
import type { RowTable } from './ledger/storage/row-table.ts'
import { ledgerTables } from './ledger/storage/tables.ts'
import { vaultTables } from './vault/tables.ts'

// No door is loaded here: whoever audits the books has no use for them.

/** What every event means to rows, of whose balances only the watched ones need be there. */
export const evolveFact: EvolveFact = combineEvolvers([
  evolveUsers,
  evolveRooms,
  evolveDecorations,
  evolveBags,
  evolveStreaks,
  evolveLuckyChains,
  evolvePackages,
  evolveCards,
  evolvePrivileges,
  evolveGames,
  evolveWithdrawals,
  evolveInstantTransfers,
  evolveSalaries,
  evolveModes,
  evolveReleases,
  evolveStaff,
])

/** What every event means, for deciding and projecting. */
export const evolve: Evolve = (state, event) => evolveFact(state, event, event.movements)

/** Every table that the executor keeps. */
export const tables: readonly RowTable[] = [
  ...ledgerTables,
  ...vaultTables,
  ...userTables,
  ...roomTables,
  ...giftTables,
  ...fairnessTables,
  ...privilegeTables,
  ...rouletteTables,
  ...agencyTables,
  ...appStatusTables,
  ...staffTables,
]
