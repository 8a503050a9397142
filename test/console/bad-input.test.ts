import { test } from 'tap'
import { appWithLedger } from '../audit/routes/ledger-fixture.ts'
import { signedIn } from '../harness/app/console-session.ts'

const x = (length: number): string => 'x'.repeat(length)

/** Each line: a status, the beginning of some addresses, and the end of each. */
const answers = `
404 /console/accounts/ user:1 user:0:coins user:1/export.csv %00/export.jsonl user:1:coins:nonsense/export.json
404 /console/accounts/user:1: dollars/statement.pdf nothing/statement.json
404 /console/accounts/user:9999999999999999:dollars ? /export.csv /export.json /statement.csv
404 /console/accounts/user:999999:coins ? /export.csv /export.json /statement.csv
404 /console/accounts/settled:999999:coins ? /export.csv /export.json /statement.csv
404 /console/accounts/room:999999:target ? /export.csv /export.json /statement.csv
404 /console/accounts/game:999999:coins ? /export.csv /export.json /statement.csv
404 /console/accounts/withdrawal:999999:dollars ? /export.csv /export.json /statement.csv
404 /console/accounts/house:nobody:coins ? /export.csv /export.json /statement.csv
422 /console/accounts? kind=bank sort=name cursor=zz at=-1 q=%00
422 /console/accounts/user:1:dollars? from=2026-02-30 from=999999 from=9&to=3 as_of=2099-01-01 cursor=zz
422 /console/accounts/user:1:dollars/ statement.csv?to=x statement.json?to=x export.json?from=x
404 /console/catalogue/ gifts/abc gifts/0 gifts/99999999999999999999 gifts/%00 releases/palm
422 /console/catalogue/gifts ?cursor=zzz ?at=-1 ?sort=a&sort=b /1?edited=1&name=a&name=b
422 /console/catalogue/gifts/review ? ?key=1&key=2 ?key=7&name=${x(3_000)}
422 /console/catalogue/app-mode/review? maintenance=maybe
404 /console/draws/ 0 x 1 99999999 99999999999999999999
422 /console/draws? gift=x from=2026-13-01 to=x at=x from=999999 from=9&to=3
422 /console/draws/sends? gift=x from=2026-13-01 to=x at=x from=999999 from=9&to=3 cursor=x
422 /console/draws/export.json? from=9&to=3
404 /console/events/ 0 x 999999 9007199254740991 999999/hashed.txt
422 /console/events? type=A user=x user=9999999999999999 account=bank request_id=%00 from=yesterday from=9&to=3 cursor=zz
404 /console/games/ 0 x 1 99999999999999999999
422 /console/games? user=x status=other cursor=x room=-1 at=x
422 /console/jobs? cursor=x at=x
422 /console/live? after=1e9 after=1&after=2 type=%00 type=${x(100)} actor=%07 account=%0A user=0 user=99999999999999999999
422 /console/live/events? after= after=-1 after=abc after=1&only=all
404 /console/proposals/ 0 x 999999 999999/effects x/unpaid
422 /console/proposals? status=other cursor=x
404 /console/reports/ 2026-13 x 2026-1 ..%2f.. %00 20260-01
422 /console/reports/trial-balance? at=x
422 /console/search? q=${x(256)} q=%00
422 /console/staff? from=x to=2026-02-30 from=9&to=3 cursor=x sub=%07 at=x
422 /console/staff/end-sessions ? ?sub= ?sub=%07 ?sub=${x(101)}
404 /console/users/ 0 x 999 1e3 3.0 3/nothing 3/balances/gold 999/credit 999/cards
404 /console/users/999/cards/ export.csv export.jsonl export.json
422 /console/users? role=king country=x cursor=! cursor=MQ at=-1 q=${x(65)}
422 /console/users/1/ withdrawals?status=odd credit?reason=${x(2_001)}
422 /console/users/1/ history?cursor=x activations?cursor=x rooms?cursor=x games?cursor=x
422 /console/users/1/ withdrawals?cursor=x cards?cursor=x bag?cursor=x notifications?cursor=x
404 /console/verify/ 0 x 999 checkpoints/0 checkpoints/x checkpoints/2
404 /console/withdrawals/ 0 x 1 99999 999999999999999999
422 /console/withdrawals? user=x status=other cursor=x type=1 at=-1 agent=1%27`

test('what makes no sense is refused in the frame of the console', async (t) => {
  const { app } = await appWithLedger(t)
  const browser = await signedIn(app)
  for (const line of answers.trim().split('\n')) {
    const [status, beginning, ...ends] = line.split(' ')
    for (const end of ends) {
      const page = await browser.get(`${beginning}${end}`)
      t.equal(page.status, Number(status), `${beginning}${end}`)
      t.match(page.html, 'role="alert"', `${beginning}${end}`)
    }
  }
})
