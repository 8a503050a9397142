import { Value } from '@sinclair/typebox/value'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { GiftKind, type OddsRow } from '../../../schema/events.ts'
import { type Decoration, decorationVersion } from '../../features/gifts/decoration.ts'
import { returnToPlayer, returnToPlayerFraction } from '../../features/gifts/odds.ts'
import { allDecorations, decorationById } from '../../features/gifts/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  numberCell,
  type PictureSources,
  pictureCell,
  statusCell,
  textCell,
  timeCell,
} from '../layout/cells.ts'
import { type Field, lineField, numberField, numberIn, type Values } from '../layout/fields.ts'
import { addressWith, pagePath } from '../layout/links.ts'
import type { Part } from '../layout/page.ts'
import { column, numberColumn, type Table } from '../lists/list.ts'
import { type Editor, editorPages } from './editor.ts'
import {
  expectedShares,
  oddsBody,
  oddsNames,
  oddsValues,
  percentText,
  readOdds,
  receiverShares,
  rowShares,
  shownRows,
} from './odds-form.ts'
import { isNumber, nameFields, nameIn, numbered, wholeList } from './whole-list.ts'

const kinds = [
  ['lucky', 'lucky: every order is drawn'],
  ['returnable', 'returnable: drawn where it has odds'],
  ['standard', 'standard: never drawn'],
] as const

const fields: readonly Field<Decoration>[] = [
  ...nameFields,
  { name: 'kind', label: 'Kind', control: { kind: 'choice', options: kinds }, valueOf: ({ kind }) => kind },
  numberField('price', 'Price in diamonds', [1, MAX_INTEGER], ({ price }) => price),
  lineField('image_path', 'Picture', 200, ({ image_path }) => image_path, {
    hint: 'A storage path. A picture that is stored elsewhere is not shown here.',
  }),
  lineField('video_path', 'Video', 200, ({ video_path }) => video_path ?? '', {
    hint: 'A storage path; empty: no video.',
  }),
]

const kindOf = (text: string | undefined): GiftKind | null => (Value.Check(GiftKind, text) ? text : null)

/** The share of stakes that players get back: in per cent, and as a fraction in exports. */
function returnCell(odds: readonly OddsRow[]): Cell {
  if (odds.length === 0) return { kind: 'number', text: '—', value: null }
  const { paid, staked } = returnToPlayer(odds)
  return { kind: 'number', text: percentText(paid, staked), value: returnToPlayerFraction(odds) }
}

const pictureOf = (sources: PictureSources, { image_path, name }: Decoration): Cell =>
  pictureCell(sources, image_path, `Picture of ${name}`)

const giftList = (sources: PictureSources) =>
  wholeList<Decoration>({
    label: 'Gifts',
    empty: 'There are no gifts yet. An operator adds the first one here.',
    columns: [
      numberColumn('id', 'Id', ({ decoration_id }) => numberCell(decoration_id, pagePath('gift', decoration_id)), 'id'),
      column('name', 'Name', ({ decoration_id, name }) => textCell(name, pagePath('gift', decoration_id)), 'name'),
      column('name_ar', 'Name in Arabic', ({ name_ar }) => textCell(name_ar)),
      column('kind', 'Kind', ({ kind }) => statusCell(kind), 'kind'),
      numberColumn('price', 'Price in diamonds', ({ price }) => amountCell('diamonds', price), 'price'),
      numberColumn('return_to_player', 'Return to player', ({ odds }) => returnCell(odds), 'return'),
      column('image_path', 'Picture', (gift) => pictureOf(sources, gift)),
      column('created_at', 'Added', ({ created_at }) => timeCell(created_at)),
    ],
    all: allDecorations,
    order: {
      id: ({ decoration_id }) => decoration_id,
      name: ({ name }) => name,
      kind: ({ kind }) => kind,
      price: ({ price }) => price,
      return: ({ odds }) => (odds.length === 0 ? -1 : returnToPlayerFraction(odds)),
    },
  })

function oddsTable(odds: readonly OddsRow[]): Table {
  const shares = rowShares(odds)
  const titles = ['Multiplier', 'Weight', 'Chance', 'Part of the return']
  return {
    label: 'Odds',
    empty: 'No odds: nothing is drawn.',
    columns: titles.map((title) => ({ title, isNumber: true })),
    rows: odds.map((row, i) => [
      { kind: 'number', text: String(row.multiplier / 10_000), value: row.multiplier / 10_000 },
      numberCell(row.weight),
      { kind: 'number', text: shares[i]?.chance ?? '', value: null },
      { kind: 'number', text: shares[i]?.part ?? '', value: null },
    ]),
  }
}

const shownOdds = (kind: GiftKind | null, odds: readonly OddsRow[], heading: string): Part => ({
  template: '/catalogue/odds.eta',
  data: { heading, table: oddsTable(odds), shares: kind === null ? null : expectedShares(kind, odds) },
})

const giftEditor = (sources: PictureSources): Editor<Decoration> => ({
  path: '/catalogue/gifts',
  adminPath: '/decorations',
  noun: 'gift',
  many: numbered(giftList(sources), async (db) => (await allDecorations(db)).map(({ decoration_id }) => decoration_id)),
  isKey: isNumber,
  find: (db, key) => decorationById(db, Number(key)),
  titleOf: ({ decoration_id, name }) => `Gift ${decoration_id}: ${name}`,
  facts: (gift) => [
    ['Id', numberCell(gift.decoration_id)],
    ['Name', textCell(gift.name)],
    ['Name in Arabic', textCell(gift.name_ar)],
    ['Kind', statusCell(gift.kind)],
    ['Price in diamonds', amountCell('diamonds', gift.price)],
    ['Picture', pictureOf(sources, gift)],
    ['Video', codeCell(gift.video_path)],
    ['Hash of the odds', codeCell(gift.odds_hash)],
    ['Added', timeCell(gift.created_at)],
    [
      'Results',
      textCell('What was sent, staked and paid back', addressWith('/console/draws', { gift: gift.decoration_id })),
    ],
  ],
  fields,
  versionOf: decorationVersion,
  bodyOf: (values) => ({
    name: nameIn(values),
    kind: values['kind'],
    price: numberIn(values['price']),
    image_path: values['image_path'],
    video_path: values['video_path'] === '' ? null : values['video_path'],
    odds: oddsNames.some((name) => values[name] !== undefined) ? oddsBody(values) : undefined,
  }),
  scripts: ['odds'],
  parts: {
    inputs: {
      names: oddsNames,
      valuesOf: ({ odds }) => oddsValues(odds),
      show: (values) => ({
        template: '/catalogue/odds-fields.eta',
        data: { ...oddsInputs(values), receiverShares: JSON.stringify(receiverShares(kinds.map(([kind]) => kind))) },
      }),
    },
    shown: ({ kind, odds }) => shownOdds(kind, odds, 'Odds'),
    review: async (values, row) => {
      const kind = kindOf(values['kind'])
      const { odds, problems } = readOdds(kind, values)
      const isChange = JSON.stringify(odds) !== JSON.stringify(row?.odds ?? [])
      return { part: shownOdds(kind, odds, isChange ? 'New odds' : 'Odds, as they are'), problems, isChange }
    },
  },
})

function oddsInputs(values: Values) {
  const kind = kindOf(values['kind'])
  const { odds, problems } = readOdds(kind, values)
  const rows = shownRows(values).map((row) => ({
    row,
    multiplier: values[`multiplier_${row}`] ?? '',
    weight: values[`weight_${row}`] ?? '',
  }))
  return { rows, problems, shares: kind === null ? null : expectedShares(kind, odds) }
}

/** /console/catalogue/gifts: the catalogue of gifts, and their odds. */
export const giftPages: ConsolePages = (scope, services) => editorPages(scope, services, giftEditor(services))
