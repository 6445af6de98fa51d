import { endedByArguments } from '../support/only-help.ts';
import { INSTALL_TERRAFORM, missingTerraform } from '../support/tools/missing-tools.ts';
import { checkTerraform, rootsIn, terraformFolder, type CheckResult } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/offline-terraform.ts';
import { planRoot, startRealTerraform, validateWithOldest } from './real-terraform.ts';
import type { Terraform } from './run-terraform.ts';

const help = `Usage: npm run check:terraform

Formats, validates and tests terraform/, and plans each environment, with the real providers where Terraform finds
them: in the registry, or in a mirror that TF_CLI_CONFIG_FILE names. Else with their schemas alone, without a plan.
Nothing is written in terraform/, and nothing is asked of Google.

  --help   this text

Exit code: 0 every step passed, or there is no terraform; 1 a step failed; 2 wrong arguments.`;

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
      const planned = await planRoot(terraform, root);
      yield 'resources' in planned
        ? { name: `plan ${root}: ${planned.resources} resources`, isPassed: true, output: '' }
        : { name: `plan ${root}`, isPassed: false, output: planned.problem };
    }
    const oldest = await validateWithOldest();
    const name = `validate with google ${oldest.version}, the oldest`;
    if ('missing' in oldest) console.log(`not run: ${name}: ${oldest.missing}`);
    else yield { name, isPassed: oldest.problem === undefined, output: oldest.problem ?? '' };
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

async function main(): Promise<0 | 1> {
  if (missingTerraform().length > 0) {
    console.log(`Nothing of terraform/ is checked here: neither format, types, references and order nor its tests.
There is no terraform on the PATH. To install it: ${INSTALL_TERRAFORM}.`);
    return 0;
  }
  const { isPassed, returned: missing } = await report(checkWithProviders());
  if (missing === undefined) return isPassed ? 0 : 1;
  console.log('With the schemas of the providers alone');
  const offline = await report(checkWithSchemas());
  console.log(`not run: what only a provider checks (values, arguments that exclude each other), plans of the environments, the
oldest provider. Terraform finds no provider: ${missing}
To run them: a network, or TF_CLI_CONFIG_FILE with a mirror (https://developer.hashicorp.com/terraform/cli/config/config-file).`);
  return offline.isPassed ? 0 : 1;
}

process.exitCode = endedByArguments(help) ?? (await main());
