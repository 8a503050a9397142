import { test } from 'tap'
import { readLedgerSchema } from '../../src/config/environment.ts'
import { channelName, ledgerUrl, lockName, schemaOf, setSearchPath } from '../../src/db/ledger-url.ts'

const DATABASE = 'postgres://service:secret@db/economy'

test('a connection string names the schema of its ledger', async (t) => {
  t.equal(schemaOf(DATABASE), 'public')
  const market = ledgerUrl(DATABASE, 'market_2')
  t.equal(market, `${DATABASE}?schema=market_2`)
  t.equal(schemaOf(market), 'market_2')
  t.equal(ledgerUrl(market, 'market_2'), market)
  const secure = ledgerUrl(`${DATABASE}?sslmode=require`, 'market_2')
  t.equal(secure, `${DATABASE}?sslmode=require&schema=market_2`)
  t.equal(schemaOf(secure), 'market_2')
  t.equal(setSearchPath(market), 'set search_path = "market_2", pg_temp')
  t.throws(() => ledgerUrl(market, 'public'), /names schema market_2, and LEDGER_SCHEMA is public/)
})

test('names of locks and channels differ between ledgers, and are the bare ones in the default schema', async (t) => {
  t.same([lockName(DATABASE, 'ledger grants'), channelName(DATABASE, 'ledger')], ['ledger grants', 'ledger'])
  const market = ledgerUrl(DATABASE, 'market_2')
  t.same(
    [lockName(market, 'ledger grants'), channelName(market, 'ledger')],
    ['ledger grants of market_2', 'ledger_market_2'],
  )
})

test('commands refuse a schema that the service would refuse', async (t) => {
  t.equal(readLedgerSchema({}), 'public')
  t.equal(readLedgerSchema({ LEDGER_SCHEMA: '' }), 'public')
  t.equal(readLedgerSchema({ LEDGER_SCHEMA: 'market_2' }), 'market_2')
  t.throws(() => readLedgerSchema({ LEDGER_SCHEMA: 'a"b' }), { message: /^LEDGER_SCHEMA must be 1 to 40 letters/ })
})
