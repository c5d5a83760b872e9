// Answers each line, in the way that it names.
const fs = require('fs');

if (process.argv[2] === 'interval') setInterval(() => {}, 1000);

require('readline').createInterface({input: process.stdin}).on('line', async (line) => {
  switch (line) {
  case 'turn':
    await null;
    await new Promise((resolve) => setImmediate(resolve));
    break;
  case 'file':
    await fs.promises.readFile(__filename);
    break;
  case 'timer':
    await new Promise((resolve) => setTimeout(resolve, 5));
    break;
  }
  process.stdout.write('ok\n');
});
