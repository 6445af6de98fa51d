import { endedByArguments } from '../support/only-help.ts';
import { INSTALL_TERRAFORM, missingTerraform } from '../support/tools/missing-tools.ts';
import { checkTerraform, terraformFolder, type CheckResult } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/run-terraform.ts';

const help = `Usage: npm run check:terraform

Formats, validates and tests terraform/ without a provider and without a network.

  --help   this text

Exit code: 0 every step passed, or there is no terraform; 1 a step failed; 2 wrong arguments.`;

async function* steps(): AsyncGenerator<CheckResult> {
  const terraform = await startOfflineTerraform();
  try {
    yield* checkTerraform(terraform, terraformFolder);
    const { status, output } = await terraform.run(terraformFolder, 'test', '-no-color');
    yield { name: 'test', isPassed: status === 0, output };
  } finally {
    await terraform.stop();
  }
}

async function main(): Promise<0 | 1> {
  if (missingTerraform().length > 0) {
    console.log(`Nothing of terraform/ is checked here: neither format, types, references and order nor its tests.
There is no terraform on the PATH. To install it: ${INSTALL_TERRAFORM}.`);
    return 0;
  }
  let exitCode: 0 | 1 = 0;
  for await (const { name, isPassed, output } of steps()) {
    console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}`);
    if (isPassed) continue;
    exitCode = 1;
    console.log(output);
  }
  return exitCode;
}

process.exitCode = endedByArguments(help) ?? (await main());
