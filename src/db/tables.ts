import type { Generated } from 'kysely'

/**
 * The tables as the reads see them. Whole numbers (bigint) arrive as numbers and must be safe, `numeric` and
 * instants as text; see db/pool.ts.
 */
export interface Tables {
  readonly balances: { account: string; balance: string }
  readonly holds: { account: string; held: string }
  readonly ledger_head: { position: number; hash: string; at: string }
  readonly ledger_events: {
    position: number
    type: string
    version: number
    data: string
    debit: string[]
    credit: string[]
    amount: number[]
    actor: string
    at: string
    request_id: string
    idempotency_key: string | null
    reply_hash: string | null
    hash: string
  }
  readonly users: {
    user_id: number
    charging_agent: boolean
    allow_receive_withdraw_requests: boolean
    business_manager: boolean
    agency_countries: string
    sessions_revoked_before: number
  }
  readonly staff_sessions: { sub: string; revoked_before: number }
  readonly user_profiles: {
    user_id: number
    uid: string
    name: string
    avatar: string
    created_at: string
    updated_at: string
    updated_by: string
  }
  readonly devices: { token: string; user_id: number; platform: string; registered_at: string }
  readonly rooms: { room_id: number; owner_id: number; trophy_points: number }
  readonly room_profiles: {
    room_id: number
    uid: string
    name: string
    cover_url: string
    created_at: string
    updated_at: string
    updated_by: string
  }
  readonly room_members: { room_id: number; user_id: number; joined_at: Generated<string> }
  readonly room_member_counts: { room_id: number; slot: number; members: number }
  readonly countries: {
    country_id: number
    name: string
    created_at: string
    updated_at: string
    updated_by: string
  }
  readonly decorations: {
    decoration_id: number
    name: string
    kind: string
    price: number
    image_path: string
    odds: string
    odds_hash: string | null
    created_at: string
  }
  readonly odds_tables: { odds_hash: string; decoration_id: number; odds: string }
  readonly bag_items: { user_id: number; decoration_id: number; quantity: number; added_at: number }
  readonly privilege_packages: {
    privilege_package_id: number
    name: string
    rank: number
    valid_days: number
    icon_path: string
    created_at: string
  }
  readonly privilege_cards: {
    card_id: number
    owner_id: number
    privilege_package_id: number
    valid_days: number
    activated: boolean
    created_at: string
    entered: number
  }
  readonly privileges: { user_id: number; privilege_package_id: number; rank: number; valid_until: number }
  readonly lucky_progress: {
    user_id: number
    number: number
    used: number
    client_seed: string
    commitment: string
    next_commitment: string
  }
  readonly lucky_chains: { chain: string; user_id: number; commitment: string; fairness_key: string }
  readonly roulette_games: {
    game_id: number
    uid: string
    room_id: number
    creator_id: number
    status: string
    game_price: number
    max_players: number
    fee_percent: number
    prize: number
    entries: string
    commitment: string
    winner_id: number | null
    spin: string | null
    created_at: string
    empty_since: string | null
    ended_at: string | null
    end_position: number | null
  }
  readonly roulette_open_games: { room_id: number; game_id: number }
  readonly live_announcements: { channel: string; position: number; prev: number | null; at: string }
  readonly live_channels: { channel: string; last: number }
  readonly app_modes: {
    scope: string
    maintenance: boolean
    title: string
    message: string
    block_unidentified: string | null
    updated_at: string
  }
  readonly app_releases: {
    client_type: string
    version: string
    minimum_version: string | null
    store_link: string
    title: string
    message: string
    created_at: string
    updated_at: string
    created: number
  }
  readonly withdrawals: {
    withdrawal_id: number
    type: string
    status: string
    user_id: number
    target_id: number
    beneficiary_id: number | null
    country_id: number
    wallet: string
    amount: number
    diamonds_per_dollar: number | null
    details: string | null
    note: string | null
    created_at: string
    changed_at: string
    changed: number
  }
  readonly instant_transfers: {
    transfer_id: number
    user_id: number
    receiver_id: number
    wallet: string
    amount: number
    rate: number
    diamonds: number
    created_at: string
  }
  readonly salary_deposits: {
    period: string
    user_id: number
    dollars: number
    agent_dollars: number
    target: number
    deposit_id: number
  }
  readonly vault_keys: { record_id: string; user_id: number; wrapped: string }
  readonly vault_records: { record_id: string; sealed: string }
}
