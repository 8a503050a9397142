/** The `code` of a thrown value (a Node error such as ENOENT, a SQLSTATE such as 42501), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
