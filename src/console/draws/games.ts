import type { RouletteEntry } from '../../../schema/events.ts'
import { gameAccount } from '../../features/roulette/game.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import type { ConsolePages } from '../console-services.ts'
import { movementsTable } from '../events/stored-events.ts'
import {
  amountCell,
  codeCell,
  type Facts,
  numberCell,
  statusCell,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, actorCell, eventCell, eventPath, personCell } from '../layout/links.ts'
import { checkedStep, type ProofStep, sendSections, verdictSection } from '../layout/page.ts'
import { choiceFilter, idFilter, numberPart, part, partTable, type Table } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'
import { type GameDetails, gameList, gameToneOf, readGameDetails } from './game-reads.ts'

/** /console/games: roulettes, and each with its players and its spin, step by step. */
export const gamePages: ConsolePages = (scope, services) => {
  addListPage(scope, services, {
    path: '/games',
    lead: 'Roulettes of all rooms, newest first. Each opens step by step, with the event behind every value.',
    list: gameList,
    filters: [
      choiceFilter('status', 'Status', [
        ['', 'All'],
        ['open', 'Open'],
        ['finished', 'Finished'],
        ['cancelled', 'Cancelled'],
      ]),
      idFilter('room', 'Room id'),
      idFilter('user', 'Creator or player (user id)'),
    ],
  })

  scope.get('/games/:id', async (request, reply) => {
    const id = idOf(request)
    const { db } = await services.chooseReportDatabase()
    const game = await readGameDetails(db, id)
    if (game === undefined) throw notFound()
    return sendSections(request, reply, {
      title: `Game ${id}`,
      heading: [`Game ${id} `, statusCell(game.status, gameToneOf(game.status))],
      sections: [
        verdictSection(game.verdict, {
          valid: 'Checked: the winner follows from values that were committed before the spin.',
          wrong: 'This spin does not follow from what was committed. The step that does not match is marked below.',
        }),
        { facts: factsOf(game) },
        { title: 'Players', table: playersOf(game) },
        { title: 'The spin, step by step', proof: stepsOf(game) },
        { title: 'Events', table: eventsOf(game) },
        game.hasMoreEvents
          ? { hint: 'Only the first events are shown; the account of the game has all of them.' }
          : null,
      ],
    })
  })
}

function factsOf(game: GameDetails): Facts {
  const { game_id, creator_id, winner_id, pot, prize, names, status } = game
  const isFinished = status === 'finished'
  return [
    ['Room', codeCell(String(game.room_id))],
    ['Created by', personCell(creator_id, names.get(creator_id))],
    ['Created', timeCell(game.created_at, eventPath(game_id))],
    ['Ended', timeCell(game.ended_at, game.end_position === null ? undefined : eventPath(game.end_position))],
    ['Stake of each player', amountCell('coins', game.game_price)],
    ['Players', textCell(`${game.entries.length} of ${game.max_players}`)],
    ['Pot', amountCell('coins', pot)],
    [isFinished ? 'Prize' : 'Prize of a full game', amountCell('coins', prize)],
    [`Fee of the house (${game.fee_percent}%)`, amountCell('coins', isFinished ? pot - prize : null)],
    ['Winner', personCell(winner_id, winner_id === null ? null : names.get(winner_id))],
    ['Account', accountCell(gameAccount(game_id))],
    ['Public name', codeCell(game.uid)],
  ]
}

const playersOf = ({ entries, names, winner_id, spin }: GameDetails): Table =>
  partTable<RouletteEntry & { place: number }>({
    label: 'Players',
    empty: 'Nobody plays yet.',
    columns: [
      numberPart('Place', ({ place }) => numberCell(place)),
      part('Player', ({ user_id }) => personCell(user_id, names.get(user_id))),
      numberPart('Stake', ({ stake }) => amountCell('coins', stake)),
      part('Client seed', ({ client_seed }) => codeCell(client_seed)),
      part('Joined in event', ({ entry }) => eventCell(entry)),
      part('Result', ({ place, user_id }) =>
        spin === null
          ? textCell(null)
          : statusCell(
              place === spin.draw && user_id === winner_id ? 'won' : 'lost',
              place === spin.draw ? 'good' : 'neutral',
            ),
      ),
    ],
    rows: entries.map((entry, place) => ({ ...entry, place })),
  })

const eventsOf = ({ events, names }: GameDetails): Table =>
  partTable<StoredEvent>({
    label: 'Events',
    empty: 'There are no events.',
    columns: [
      part('When', ({ at }) => timeCell(at)),
      part('What', ({ type }) => wordCell(type)),
      part('Who', ({ entry }) => actorCell(entry.actor)),
      part('Player', ({ data }) =>
        'user_id' in data ? personCell(data.user_id, names.get(data.user_id)) : textCell(null),
      ),
      part('Event', ({ position }) => eventCell(position)),
    ],
    rows: events,
  })

/** The spin in the order in which it happened; only the commitment while the game is open. */
function stepsOf(game: GameDetails): readonly ProofStep[] {
  const { game_id, incarnation, commitment, spin, verdict, end_position: end, entries, events } = game
  const committed = [
    ['Incarnation', codeCell(incarnation)],
    ['Commitment', codeCell(commitment, eventPath(game_id))],
    ['Committed in event', eventCell(game_id)],
  ] as const
  if (spin === null || verdict === null || end === null) {
    const why = 'The service committed to its seed when the game was created. The seed is revealed by the spin.'
    return [{ title: 'Commitment', ok: null, why, facts: committed }]
  }
  const checkOf = (name: string) => verdict.steps.find(({ step }) => step === name)
  const textOf = (name: string, value: string): string => {
    const text = checkOf(name)?.values[value]
    return typeof text === 'string' ? text : ''
  }
  const sayOf = (name: string) => checkedStep(verdict, name)
  const words: unknown = checkOf('draw')?.values['words']
  const winner = entries[spin.draw]
  const finished = events.find((event) => event.type === 'roulette-finished')
  return [
    {
      title: 'Commitment, before anybody joined',
      ...sayOf('commitment'),
      facts: [
        ...committed,
        ['Seed of the service', codeCell(spin.server_seed, eventPath(end))],
        ['Revealed in event', eventCell(end)],
        ['SHA-256 of the prefix and the seed', codeCell(textOf('commitment', 'hash'))],
        ['Prefix', codeCell(textOf('commitment', 'prefix'))],
      ],
    },
    {
      title: 'Entries, in the order of joining',
      ...sayOf('entries'),
      facts: [
        ['Hash in the event of the spin', codeCell(spin.entries_hash, eventPath(end))],
        ['SHA-256 of these lines', codeCell(textOf('entries', 'hash'))],
      ],
      text: textOf('entries', 'lines'),
    },
    {
      title: 'The number drawn',
      ...sayOf('draw'),
      facts: [
        ['Label of the HMAC', codeCell(textOf('draw', 'label'))],
        ['Words read', codeCell(Array.isArray(words) ? words.join(' ') : null)],
        ['Players', numberCell(entries.length)],
        ['Last word modulo players', numberCell(Number(checkOf('draw')?.values['r']))],
        ['Place in the event of the spin', numberCell(spin.draw, eventPath(end))],
        ['Winner', personCell(winner?.user_id ?? null, game.names.get(winner?.user_id ?? 0))],
        ['Joined in event', eventCell(winner?.entry ?? null)],
      ],
    },
    {
      title: 'The pot is paid out',
      ok: null,
      why: 'The prize goes to the winner and the fee to the house, by the event of the spin.',
      facts: [],
      table: movementsTable({
        label: 'Payments',
        empty: 'Nothing was paid.',
        rows: (finished?.movements ?? []).map((movement) => ({ ...movement, position: end })),
      }),
    },
    { title: 'The ledger says the same', ...sayOf('ledger'), facts: [['Event of the spin', eventCell(end)]] },
  ]
}
