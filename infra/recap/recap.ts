/* The command `recap` of the package. Each command reads the rest of the arguments as if it had been started by itself. */

const commands: Readonly<Record<string, { what: string; run: () => Promise<unknown> }>> = {
  init: {
    what: 'init FOLDER          writes a new project: an app’s backend on Recap',
    run: () => import('./init.ts'),
  },
  dev: {
    what: 'dev [options]        runs the project here, with a page, and again after each change',
    run: () => import('../local/start.ts'),
  },
  package: {
    what: 'package [options]    packs the project into the archive that Terraform deploys',
    run: () => import('../package/package.ts'),
  },
  ops: {
    what: 'ops COMMAND …        the operator’s command line',
    run: () => import('../ops/ops.ts'),
  },
  smoke: {
    what: 'smoke --url URL …    checks a deployment end to end',
    run: () => import('../smoke/smoke.ts'),
  },
};

const help = `Usage: recap COMMAND

${Object.values(commands)
  .map(({ what }) => `  ${what}`)
  .join('\n')}

recap COMMAND --help tells more.
`;

/** Sources are run without a build, and the functions are deployed to it. */
const NODE_MIN = 24;
if (Number(process.versions.node.split('.')[0]) < NODE_MIN) {
  process.stderr.write(
    `Recap needs Node ${NODE_MIN} or newer; this is ${process.version}. Within a project: npm install --save-dev node@${NODE_MIN}\n`,
  );
  process.exit(1);
}

const [name = '--help'] = process.argv.splice(2, 1);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command) await command.run();
else if (name === '--help' || name === 'help') process.stdout.write(help);
else {
  process.stderr.write(`recap knows no command ${JSON.stringify(name)}\n\n${help}`);
  process.exitCode = 2;
}
