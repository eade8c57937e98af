/** `node test/openapi/spectral.ts <document>` prints what Spectral's rules for OpenAPI find, as JSON. */
import { readFileSync } from 'node:fs'
import spectralCore from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'

const spectral = new spectralCore.Spectral()
spectral.setRuleset(new spectralCore.Ruleset(oas))
console.log(JSON.stringify(await spectral.run(readFileSync(process.argv[2] ?? '', 'utf8'))))
