import { evolveSalaries } from './agency/deposit.ts'
import { evolveInstantTransfers } from './agency/instant-transfer.ts'
import { agencyTables } from './agency/projection.ts'
import { evolveWithdrawals } from './agency/withdrawal.ts'
import { evolveModes } from './app-status/mode.ts'
import { appStatusTables } from './app-status/projection.ts'
import { evolveReleases } from './app-status/release.ts'
import { evolveLuckyChains } from './fairness/lucky-progress.ts'
import { fairnessTables } from './fairness/projection.ts'
import { evolveBags } from './gifts/bag.ts'
import { evolveDecorations } from './gifts/decoration.ts'
import { giftTables } from './gifts/projection.ts'
import { evolveStreaks } from './gifts/streak.ts'
import { type Evolve, type EvolveFact, evolveWith } from './ledger/evolve.ts'
import { ledgerTables } from './ledger/projection.ts'
import type { RowTable } from './ledger/row-table.ts'
import { peopleTables } from './people/projection.ts'
import { evolveUsers } from './people/user.ts'
import { evolveCards } from './privilege/card.ts'
import { evolvePackages } from './privilege/package.ts'
import { privilegeTables } from './privilege/projection.ts'
import { evolvePrivileges } from './privilege/running.ts'
import { roomTables } from './rooms/projection.ts'
import { evolveRooms } from './rooms/room.ts'
import { evolveGames } from './roulette/game.ts'
import { rouletteTables } from './roulette/projection.ts'
import { staffTables } from './staff/projection.ts'
import { evolveStaff } from './staff/staff.ts'
import { vaultTables } from './vault/projection.ts'

// No door is loaded here: whoever audits the books has no use for them.

/** What every event means to rows, of whose balances only the watched ones need be there. */
export const evolveFact: EvolveFact = evolveWith([
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
  ...peopleTables,
  ...roomTables,
  ...giftTables,
  ...fairnessTables,
  ...privilegeTables,
  ...rouletteTables,
  ...agencyTables,
  ...appStatusTables,
  ...staffTables,
]
