// The pages work without this. It sends a form when a choice in it changes, so that a server's channels follow it.
"use strict";
for (const form of document.querySelectorAll("form.filter")) {
  form.querySelector("select[name=guild]")?.addEventListener("change", () => form.requestSubmit());
}
// It scrolls to the message that a link leads to.
document.querySelector(".said.at")?.scrollIntoView({ block: "center" });
