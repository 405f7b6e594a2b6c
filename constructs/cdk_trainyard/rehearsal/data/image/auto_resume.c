/* Stand-in for HyperPod's spank_auto_resume.so: gives srun the option --auto-resume=0|1.
 *
 * It keeps the rules seen on HyperPod: only inside an allocation; a step that failed is tried again in the same job after
 * an agent has looked at the nodes. srun forks before it makes the step: the child goes on as srun, the parent waits.
 * It proves how a job script handles the option. It proves nothing about HyperPod's own plugin.
 *
 * plugstack.conf: required auto_resume_standin.so [agent=PATH] [max=RETRIES]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(auto_resume, 1);

#define SAY "[Auto Resume] Info: JobID: %s "

static int enabled;
static volatile pid_t child;

static int on_option(int value, const char *argument, int remote) {
    (void)value;
    (void)remote;
    if (!argument || (strcmp(argument, "0") && strcmp(argument, "1"))) {
        slurm_error("--auto-resume takes 0 or 1");
        return -1;
    }
    enabled = argument[0] == '1';
    return 0;
}

struct spank_option spank_options[] = {
    {"auto-resume", "[0|1]", "Try a failed step again after its node was replaced (stand-in).", 1, 0, on_option},
    SPANK_OPTIONS_TABLE_END};

static void forward(int number) {
    if (child > 0)
        kill(child, number);
}

/* A retry is a new srun with the same words. Slurm 22.05 keeps the cores of a step that lost a node under --no-kill
 * ("step creation temporarily disabled ... nodes are busy"), hence the overlap. */
static int start_again(void) {
    static char text[131072], *words[4096];
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0, at = 0;
    int count = 0;
    while (at < length && count < 4095) {
        words[count++] = text + at;
        at += strlen(text + at) + 1;
    }
    setenv("SLURM_OVERLAP", "1", 1);
    setenv("AUTO_RESUME_RETRY", "1", 1);
    execv("/proc/self/exe", words);
    return -1;
}

static int wait_for_child(void) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
    int status;
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        signal(passed_on[i], forward);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments) {
    const char *job = getenv("SLURM_JOB_ID"), *agent = "/opt/sagemaker_cluster/auto-resume-agent";
    int most = 3;
    (void)spank;
    if (spank_context() != S_CTX_LOCAL || !enabled)
        return 0;
    if (getenv("AUTO_RESUME_RETRY")) {
        unsetenv("AUTO_RESUME_RETRY");
        return 0;
    }
    for (int i = 0; i < count; i++) {
        if (!strncmp(arguments[i], "agent=", 6))
            agent = arguments[i] + 6;
        if (!strncmp(arguments[i], "max=", 4))
            most = atoi(arguments[i] + 4);
    }
    if (!job) {
        slurm_error("[Auto Resume] Error: can only run within an existing allocation");
        return -1;
    }
    for (int attempt = 0;; attempt++) {
        char number[16], command[512];
        snprintf(number, sizeof number, "%d", attempt);
        child = fork();
        if (child < 0)
            return -1;
        if (!child) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            setenv("AUTO_RESUME_ATTEMPT", number, 1);
            return attempt ? start_again() : 0;
        }
        int code = wait_for_child();
        if (code == 0)
            _exit(0);
        if (attempt >= most) {
            fprintf(stderr, SAY "giving up after %d retries\n", job, attempt);
            _exit(code);
        }
        fprintf(stderr, SAY "Initiating communication with cluster agent to diagnose health of nodes\n", job);
        snprintf(command, sizeof command, "%s %s %d", agent, job, code);
        if (system(command) != 0) {
            fprintf(stderr, SAY "agent: do not retry\n", job);
            _exit(code);
        }
        fprintf(stderr, SAY "Retrying step. Attempt number: %d\n", job, attempt + 1);
    }
}
