import { Client } from 'pg'

/** Records the names of the statements, or else their texts, that this process sends until the test ends. */
export function recordStatements(t: { teardown(work: () => void): void }): string[] {
  const statements: string[] = []
  const query: unknown = Reflect.get(Client.prototype, 'query')
  if (typeof query !== 'function') throw new TypeError('the client has no query')
  const record = function (this: unknown, ...args: readonly unknown[]): unknown {
    const [first] = args
    const { name, text } = Object(first)
    statements.push(String(name ?? text ?? first))
    return Reflect.apply(query, this, args)
  }
  Reflect.set(Client.prototype, 'query', record)
  t.teardown(() => Reflect.set(Client.prototype, 'query', query))
  return statements
}
