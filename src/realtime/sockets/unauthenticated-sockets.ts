import type { Connection } from './connection.ts'

/** Connections that have not authenticated yet, oldest first, in all and for each address. */
export class UnauthenticatedSockets {
  readonly #all = new Set<Connection>()
  readonly #byAddress = new Map<string, Set<Connection>>()

  get size(): number {
    return this.#all.size
  }

  get oldest(): Connection | undefined {
    return this.#all.values().next().value
  }

  countOf(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0
  }

  oldestOf(address: string): Connection | undefined {
    return this.#byAddress.get(address)?.values().next().value
  }

  add(connection: Connection): void {
    this.#all.add(connection)
    const others = this.#byAddress.get(connection.address)
    if (others === undefined) this.#byAddress.set(connection.address, new Set([connection]))
    else others.add(connection)
  }

  /** Does nothing for a connection that is not here. */
  delete(connection: Connection): void {
    this.#all.delete(connection)
    const others = this.#byAddress.get(connection.address)
    others?.delete(connection)
    if (others?.size === 0) this.#byAddress.delete(connection.address)
  }
}
