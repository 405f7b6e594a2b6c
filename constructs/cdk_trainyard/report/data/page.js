"use strict";
for (const field of document.querySelectorAll("input[data-table]")) {
  const rows = document.querySelectorAll("#" + field.dataset.table + " tbody tr");
  const said = field.parentElement.querySelector("output");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    said.textContent = words.length ? shown + " of " + rows.length : "";
  });
}
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
for (const each of document.querySelectorAll("[data-date]")) {
  each.hidden = !(Date.now() - Date.parse(each.dataset.date) > 90 * 864e5);
}
