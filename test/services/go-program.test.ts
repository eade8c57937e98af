import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { buildGoProgram } from '../../dev/services/go-program.ts'

/** Builds a program that consists of the toolchain that Go was asked for. */
const GO = `#!/bin/sh
[ "$1" = install ] || exit 0
mkdir -p "$GOBIN"
printf '%s' "$GOTOOLCHAIN" > "$GOBIN/answer"
`
const { PATH, GOTOOLCHAIN } = process.env
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'billing-go-'))
  writeFileSync(join(directory, 'go'), GO, { mode: 0o755 })
  process.env.PATH = `${directory}${delimiter}${PATH}`
})
afterEach(() => {
  process.env.PATH = PATH
  if (GOTOOLCHAIN === undefined) delete process.env.GOTOOLCHAIN
  else process.env.GOTOOLCHAIN = GOTOOLCHAIN
  rmSync(directory, { recursive: true, force: true })
})

test.each([
  ['fetches the Go that it needs', '', 'auto'],
  ['keeps to the Go that the environment names', 'local', 'local'],
])('a build %s', async (_, given, used) => {
  process.env.GOTOOLCHAIN = given
  const program = { title: 'Answer', folder: 'answer', name: 'answer', module: 'example.com/answer@v1.0.0' }
  const path = await buildGoProgram(program, 'a test', directory, { log: () => {} })
  expect(readFileSync(path, 'utf8')).toBe(used)
})
