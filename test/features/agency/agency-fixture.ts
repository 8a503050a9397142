import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestApp, type TestApp } from '../../harness/app/test-app.ts'
import { testOpening } from '../../harness/ledger/test-executor.ts'
import { profile } from '../answers.ts'

export { dataOf, person } from '../answers.ts'

export const requests = '/api/v1/agency/target-withdraw-requests'
export const transfers = '/api/v1/agency/target-transaction-requests'

/**
 * Users 1 to 3 with 90.00 dollars and 50.00 agent dollars each; charging agents 4 (countries 1 and 2), 5 (country 2)
 * and 6 (receives nothing); business managers 7 and 8; user 9 has nothing.
 */
export async function agencyApp(t: Parameters<typeof createTestApp>[0]): Promise<TestApp> {
  const opened = await createTestApp(t)
  const { operator, ledger } = opened
  await ledger.runOk(genesis, testOpening)
  for (const id of [1, 2, 3]) await operator('PUT', `/admin/v1/countries/${id}`, { name: `Country ${id}` })
  const serving = (...ids: number[]) =>
    ids.map((country_id) => ({ country_id, diamonds_per_dollar: 10_000 + country_id }))
  const agent = { charging_agent: 1, allow_receive_withdraw_requests: 1 }
  const people = [
    ...[1, 2, 3, 9].map((id) => ({ id })),
    { id: 4, ...agent, agency_countries: serving(1, 2) },
    { id: 5, ...agent, agency_countries: serving(2) },
    { id: 6, ...agent, allow_receive_withdraw_requests: 0, agency_countries: serving(1) },
    { id: 7, business_manager: 1 },
    { id: 8, business_manager: true },
  ]
  await operator('POST', '/admin/v1/users', {
    users: people.map((one) => ({ ...one, ...profile(one.id) })),
  })
  for (const id of [1, 2, 3]) {
    for (const [currency, amount] of [
      ['dollars', 90],
      ['agent_dollars', 50],
    ]) {
      await operator('POST', `/admin/v1/users/${id}/credits`, { currency, amount, reason: 'opening' })
    }
  }
  return opened
}

export const gold = {
  type: 'gold_agent',
  target_user_id: 4,
  beneficiary_user_id: 9,
  amount_in_dollars: 20,
  country_id: 1,
}

export const bank = { bank_name: 'First bank', account_name: 'A. Host 𝒜😀 عنوان', account_number: 'EG380019000500' }

export const cash = {
  type: 'cash',
  business_manager_id: 7,
  amount_in_dollars: 20,
  country_id: 1,
  bank_details: bank,
}
