import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, runCommand } from '#infra/command-line.ts';
import { INSTALL_TERRAFORM, missingTerraform } from '../support/tools/missing-tools.ts';
import { checkAppProject } from './app-project.ts';
import { checkTerraform, rootsIn, terraformFolder, type CheckResult } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/offline-terraform.ts';
import { providerNames, schemaFile } from './offline/provider-schema.ts';
import { schemaText } from './offline/slim-schema.ts';
import { planRoot, startRealTerraform } from './real-terraform.ts';
import type { Terraform } from './run-terraform.ts';

const help = `Usage: npm run check:terraform [-- --write-schemas]

Formats, validates and tests terraform/ and what recap init writes for Terraform, and plans each environment, with the real providers where Terraform finds
them: in the registry, or in a mirror that TF_CLI_CONFIG_FILE names. Else with their schemas alone, without a plan.
Nothing is written in terraform/, and nothing is asked of Google.

  --write-schemas   checks nothing and writes test/terraform/offline/*-provider-schema.json anew, of the newest providers
                    that terraform/versions.tf allows
  --help            this text

Exit code: 0 every step passed, or there is no terraform; 1 a step failed; 2 wrong arguments.`;

async function writeSchemas(): Promise<0 | 1> {
  const terraform = await startRealTerraform();
  if (typeof terraform === 'string') {
    console.error(`Terraform finds no provider: ${terraform}`);
    return 1;
  }
  try {
    const { output } = await terraform.run(terraform.folder, 'providers', 'schema', '-json');
    const printed: unknown = JSON.parse(output);
    for (const name of providerNames) {
      const version = terraform.versions[name];
      writeFileSync(schemaFile(name), schemaText(printed, name, version));
      console.log(`${name} ${version}`);
    }
    return 0;
  } finally {
    await terraform.stop();
  }
}

async function testModule(terraform: Terraform, folder: string): Promise<CheckResult> {
  const { status, output } = await terraform.run(folder, 'test', '-no-color');
  const counted = /\d+ passed, \d+ failed/.exec(output)?.[0] ?? 'nothing';
  return { name: `test: ${counted}`, isPassed: status === 0, output };
}

async function* checkWithProviders(): AsyncGenerator<CheckResult, string | undefined> {
  const terraform = await startRealTerraform();
  if (typeof terraform === 'string') return terraform;
  try {
    const { google, time } = terraform.versions;
    console.log(`With the providers google ${google} and time ${time}`);
    yield* checkTerraform(terraform, terraform.folder);
    yield await testModule(terraform, terraform.folder);
    for (const root of (await rootsIn(terraform.folder)).filter((one) => one !== '')) {
      const planned = await planRoot(terraform, join(terraform.folder, root));
      yield 'resources' in planned
        ? { name: `plan ${root}: ${planned.resources} resources`, isPassed: true, output: '' }
        : { name: `plan ${root}`, isPassed: false, output: planned.problem };
    }
    yield* checkAppProject(terraform, { isReal: true });
    return undefined;
  } finally {
    await terraform.stop();
  }
}

async function* checkWithSchemas(): AsyncGenerator<CheckResult> {
  const terraform = await startOfflineTerraform();
  try {
    yield* checkTerraform(terraform, terraformFolder);
    yield await testModule(terraform, terraformFolder);
    yield* checkAppProject(terraform, { isReal: false });
  } finally {
    await terraform.stop();
  }
}

/** Prints each result; whether all passed, and what the generator returned. */
async function report<Returned>(
  results: AsyncGenerator<CheckResult, Returned>,
): Promise<{ isPassed: boolean; returned: Returned }> {
  let isAllPassed = true;
  for (;;) {
    const next = await results.next();
    if (next.done === true) return { isPassed: isAllPassed, returned: next.value };
    const { name, isPassed, output } = next.value;
    console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}`);
    if (!isPassed) console.log(output);
    isAllPassed &&= isPassed;
  }
}

async function checkAll(): Promise<0 | 1> {
  if (missingTerraform().length > 0) {
    console.log(`Nothing of terraform/ is checked here: neither format, types, references and order nor its tests.
There is no terraform on the PATH. To install it: ${INSTALL_TERRAFORM}.`);
    return 0;
  }
  const { isPassed, returned: missing } = await report(checkWithProviders());
  if (missing === undefined) return isPassed ? 0 : 1;
  console.log('With the schemas of the providers alone');
  const offline = await report(checkWithSchemas());
  console.log(`not run: what only a provider checks (values, arguments that exclude each other), plans of the environments.
Terraform finds no provider: ${missing}
To run them: a network, or TF_CLI_CONFIG_FILE with a mirror (https://developer.hashicorp.com/terraform/cli/config/config-file).`);
  return offline.isPassed ? 0 : 1;
}

process.exitCode = await runCommand(help, async (argv) => {
  const wanted = readOptions(argv, {
    'write-schemas': { type: 'boolean' },
    help: { type: 'boolean' },
  });
  if (wanted.help === true) return 'help';
  return wanted['write-schemas'] === true ? writeSchemas() : checkAll();
});
