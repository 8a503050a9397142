import { WriteAllowance } from '../../src/http/limits/write-allowance.ts'
import { busyLimits } from '../harness/app/busy-ledger.ts'
import { createTestApp, type TestApp } from '../harness/app/test-app.ts'
import { type PageOptions, startBrowser, type TestBrowser, type TestPage } from '../harness/browser/browser.ts'
import { listen } from '../harness/http/raw-http.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import type { Scope } from '../harness/scope.ts'

interface ConsoleInBrowser extends TestApp {
  readonly origin: string
  readonly browser: TestBrowser
  /** A page in which a member of staff has signed in by a token, as people do: it shows the home page. */
  readonly signIn: (
    sub: string,
    options?: PageOptions & { readonly role?: 'operator' | 'finance' },
  ) => Promise<TestPage>
}

/** A service that listens, with the approval limits of `fillLedger`, and a browser for it. */
export async function openConsole(t: Scope, database?: TestDatabase): Promise<ConsoleInBrowser> {
  const writes = new WriteAllowance(null)
  const opened = await createTestApp(t, { database, writes, approvalLimits: busyLimits, hasOwnPictures: true })
  const { app, setOrigin } = opened
  const origin = `http://127.0.0.1:${await listen(app)}`
  setOrigin(origin)
  const browser = await startBrowser(t)
  return {
    ...opened,
    origin,
    browser,
    signIn: async (sub, { role = 'operator', ...options } = {}) => {
      const name = `${sub.slice(0, 1).toUpperCase()}${sub.slice(1)}`
      const token = app.jwt.sign({ sub, role, name }, { expiresIn: '1h' })
      const shown = await browser.newPage(origin, options)
      await shown.open('/console/login')
      await shown.page.getByLabel('Staff token').fill(token)
      await shown.page.getByRole('button', { name: 'Sign in' }).click()
      await shown.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      return shown
    },
  }
}
