import { test } from 'tap'
import { loadSlices } from '../../src/domain.ts'
import { AddressLimit } from '../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../src/http/limits/write-allowance.ts'
import { signedIn } from '../harness/app/console-session.ts'
import { createTestApp } from '../harness/app/test-app.ts'

const HOSTILE = `<script>alert(1)</script> {{7*7}} <%= 1 %> ${'x'.repeat(50)}`

test('a proposal is shown with what it moves, refused to its maker, and approved by another', async (t) => {
  const { slices } = await loadSlices()
  const { app, operator } = await createTestApp(
    t,
    slices,
    undefined,
    new WriteAllowance(null),
    new AddressLimit(null),
    { coins: 100 },
  )
  const ann = await signedIn(app, 'operator', 'ann')
  const ben = await signedIn(app, 'operator', 'ben')
  const finance = await signedIn(app, 'finance', 'fin')
  t.match((await ann.get('/console/proposals')).html, 'No proposal.')
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  const proposed = await operator('POST', '/admin/v1/users/7/credits', {
    currency: 'dollars',
    amount: '229.50',
    reason: HOSTILE,
  })
  t.equal(proposed.status, 202)
  const { id } = Object(proposed.body).data
  const address = `/console/proposals/${id}`

  const list = await ben.get('/console/proposals?status=open')
  t.match(list.html, `href="${address}"`)
  t.match(list.html, '&lt;script&gt;')
  t.notMatch(list.html, '<script>alert')
  const csv = await ben.get('/console/proposals/export.csv?status=open')
  t.match(csv.html, /^id,status,action/)
  t.match(csv.html, 'staff:ann')
  t.match(csv.html, '229.50')

  const shown = await ben.get(address)
  t.match(shown.html, '−229.50', 'the account of issues after the credit')
  t.match(shown.html, '+229.50', "the change of the user's balance")
  t.match(shown.html, 'user:7:dollars')
  t.notMatch(shown.html, '<dt>Decided by</dt>', 'nobody decided yet')
  t.match(shown.html, `action="${address}/approve"`)
  t.match((await ann.get(address)).html, 'Only another member of staff may approve it')
  t.notMatch((await ann.get(address)).html, `action="${address}/approve"`)
  t.notMatch((await finance.get(address)).html, 'method="post" action="/console/proposals')
  for (const sub of ['Ann', 'a nn']) {
    const { html } = await (await signedIn(app, 'operator', sub)).get(address)
    t.match(html, 'You made this proposal', `${sub} is ann, written otherwise`)
    t.notMatch(html, `action="${address}/approve"`)
  }

  const csrf = /name="_csrf" value="([^"]+)"/.exec((await ann.get(address)).html)?.[1] ?? ''
  const byMaker = await ann.post(`${address}/approve`, { _csrf: csrf, key: 'a key' })
  t.equal(byMaker.status, 403)
  const financeCsrf = /name="_csrf" value="([^"]+)"/.exec((await finance.get(address)).html)?.[1] ?? ''
  t.equal((await finance.post(`${address}/approve`, { _csrf: financeCsrf, key: 'a key' })).status, 403)

  const approved = await ben.submit(address, `${address}/approve`, { note: 'checked' })
  t.equal(approved.status, 303)
  t.equal(approved.headers['location'], `${address}?done=approved`)
  const after = await ben.get(`${address}?done=approved`)
  t.match(after.html, 'Approved, and done.')
  t.match(after.html, 'checked')
  t.match(after.html, '<dt>Decided by</dt>')
  t.notMatch(after.html, '<form class="panel"')
  const late = await ann.post(`${address}/reject`, { _csrf: csrf, key: 'another key' })
  t.equal(late.status, 422)

  for (const path of ['/console/proposals/0', '/console/proposals/x', '/console/proposals/999999']) {
    t.equal((await ben.get(path)).status, 404, path)
  }
  t.equal((await ben.get('/console/proposals?status=other')).status, 422)
  t.equal((await ben.get('/console/proposals?cursor=x')).status, 422)
})
