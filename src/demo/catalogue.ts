import { fileURLToPath } from 'node:url'
import type { GiftKind } from '../../schema/events.ts'
import type { Currency } from '../ledger/rules/account.ts'

/** Demo data: users with balances, a room, gifts of every kind, and privileges. */

export const demoCountries = [
  { id: 1, name: 'Egypt' },
  { id: 2, name: 'Saudi Arabia' },
] as const

interface DemoUser {
  readonly id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
  /** Opening balances: whole units, cents for dollars. */
  readonly balances: Readonly<Partial<Record<Currency, number>>>
  /** Countries that the user serves as charging agent, with the rate in diamonds per dollar. */
  readonly agency?: readonly { readonly country_id: number; readonly diamonds_per_dollar: number }[]
  readonly business_manager?: true
}

export const demoUsers: readonly DemoUser[] = [
  {
    id: 1,
    uid: 'amina',
    name: 'Amina',
    avatar: 'avatars/amina.svg',
    balances: { coins: 50_000, diamonds: 100_000, dollars: 25_000 },
  },
  { id: 2, uid: 'badr', name: 'Badr', avatar: 'avatars/badr.svg', balances: { coins: 50_000, diamonds: 20_000 } },
  { id: 3, uid: 'carmen', name: 'Carmen', avatar: 'avatars/carmen.svg', balances: { coins: 50_000, diamonds: 20_000 } },
  {
    id: 4,
    uid: 'dalia',
    name: 'Dalia',
    avatar: 'avatars/dalia.svg',
    balances: { agent_dollars: 12_000 },
    agency: [
      { country_id: 1, diamonds_per_dollar: 10_500 },
      { country_id: 2, diamonds_per_dollar: 10_200 },
    ],
  },
  { id: 5, uid: 'emil', name: 'Emil', avatar: 'avatars/emil.svg', balances: {}, business_manager: true },
]

/** Owned by Carmen. */
export const demoRoom = {
  id: 1,
  uid: 'R1',
  name: 'Night lounge',
  cover_url: 'rooms/night-lounge.svg',
  owner_id: 3,
} as const

/** Members of the room. */
export const demoMembers: readonly number[] = [1, 2, 3]

interface DemoGift {
  readonly id: number
  readonly name: string
  readonly kind: GiftKind
  readonly price: number
  readonly image_path: string
  readonly odds: readonly { readonly multiplier: number; readonly weight: number }[]
}

export const demoGifts: readonly DemoGift[] = [
  { id: 1, name: 'Rose', kind: 'standard', price: 10, image_path: 'gifts/rose.svg', odds: [] },
  { id: 2, name: 'Sports car', kind: 'standard', price: 5_000, image_path: 'gifts/sports-car.svg', odds: [] },
  {
    id: 3,
    name: 'Lucky clover',
    kind: 'lucky',
    price: 100,
    image_path: 'gifts/lucky-clover.svg',
    // Returns 0.7 of the stake in the long run.
    odds: [
      { multiplier: 0, weight: 640_000 },
      { multiplier: 1, weight: 240_000 },
      { multiplier: 2, weight: 95_000 },
      { multiplier: 5, weight: 20_000 },
      { multiplier: 20, weight: 4_900 },
      { multiplier: 720, weight: 100 },
    ],
  },
  {
    id: 4,
    name: 'Boomerang',
    kind: 'returnable',
    price: 50,
    image_path: 'gifts/boomerang.svg',
    odds: [
      { multiplier: 0.5, weight: 60 },
      { multiplier: 1, weight: 40 },
    ],
  },
]

export const demoPackages = [
  { privilege_package_id: 1, name: 'Bronze', rank: 1, valid_days: 7, icon_path: 'privileges/bronze.svg' },
  { privilege_package_id: 2, name: 'Silver', rank: 2, valid_days: 30, icon_path: 'privileges/silver.svg' },
  { privilege_package_id: 3, name: 'Gold', rank: 3, valid_days: 30, icon_path: 'privileges/gold.svg' },
] as const

/** Amina has two cards to activate and one to transfer. */
export const demoCards = [
  { user_id: 1, privilege_package_id: 1 },
  { user_id: 1, privilege_package_id: 2 },
  { user_id: 1, privilege_package_id: 3 },
] as const

/** The folder with the pictures of the demo catalogue, which `demo/catalogue.ts` names by their paths in it. */
export const demoPictures = fileURLToPath(new URL('pictures', import.meta.url))
