import { readdirSync } from 'node:fs'
import { fileOf, readDocument } from '../harness/documents/documents.ts'

interface SourceFile {
  /** From the root: `src/features/gifts/send.ts`. */
  readonly path: string
  readonly text: string
}

/** All files of these folders whose names match. */
export const filesIn = (folders: readonly string[], names = /\.ts$/): readonly SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(fileOf(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => names.test(name))
      .map((name) => ({ path: `${folder}/${name}`, text: readDocument(`${folder}/${name}`) })),
  )

/** The folders of the business. */
export const slices: readonly string[] = readdirSync(fileOf('src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
